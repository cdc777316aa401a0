/** A single clause with more words is split. */
const maxClauseWords = 36
const minSentenceWords = 5
const pieceLength = 16

export const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean)

/**
 * Splits a goal into clauses, in order: lines and numbered items, split at "and", ";" and "then". Headings are dropped.
 * A goal that is one long clause is split at its sentences, or else into pieces of equal length.
 * @returns at least one clause
 */
export function clausesOf(goal: string): string[] {
  const lines = goal.split(/\r?\n/).map((line) => wordsOf(line).join(' '))
  const items = lines.filter((line) => !heading.test(line)).flatMap(itemsOf)
  const clauses = items.flatMap((item) => item.split(/ and |;| then /i)).map(tidy)
  const [first, ...more] = clauses.filter((clause) => /[\p{L}\p{N}]/u.test(clause))
  if (first === undefined) return [tidy(lines.map((line) => line.replace(heading, '')).join(' ')) || goal.trim()]
  return more.length === 0 && wordsOf(first).length > maxClauseWords ? cutLong(first) : [first, ...more]
}

const heading = /^#{1,6} /
const marker = /^(?:[-*+•] (?:\[[ xX]\] )?|\(?\d{1,3}[.)] )/

/** A line that begins with a number may contain further numbered items. */
function itemsOf(line: string): string[] {
  const items = /^\(?1[.)] /.test(line) ? line.split(/ (?=\(?\d{1,3}[.)] )/) : [line]
  return items.map((item) => item.replace(marker, ''))
}

/** Removes conjunctions and punctuation at both ends. */
function tidy(clause: string): string {
  let end = clause.length
  while (end > 0 && ' ,;.'.includes(clause[end - 1] as string)) end--
  return clause
    .slice(0, end)
    .trimStart()
    .replace(/^(?:(?:and|then|,) )+/i, '')
}

function cutLong(clause: string): string[] {
  const sentences = joinShort(clause.split(/(?<=[.!?]) /))
  return sentences.length > 1 ? sentences.map(tidy) : pieces(wordsOf(clause))
}

/** Appends a sentence of only a few words to the previous sentence. */
function joinShort(sentences: readonly string[]): string[] {
  const joined: string[] = []
  for (const sentence of sentences) {
    const last = joined.at(-1)
    if (last === undefined || wordsOf(sentence).length >= minSentenceWords) joined.push(sentence)
    else joined[joined.length - 1] = `${last} ${sentence}`
  }
  return joined
}

const pieces = (words: readonly string[]): string[] =>
  Array.from({length: Math.ceil(words.length / pieceLength)}, (_, i) =>
    words.slice(i * pieceLength, (i + 1) * pieceLength).join(' '),
  )
