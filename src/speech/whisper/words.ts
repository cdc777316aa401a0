import type {Tokenizer} from '../../text/index.js'
import type {WordTiming} from '../model.js'

/** A word and how many tokens spell it. */
export interface SpelledWord {
  word: string
  tokens: number
}

/** Languages written without blanks: there a word is a character. */
const withoutBlanks = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue'])

const utf8 = new TextDecoder('utf-8', {fatal: true})

/**
 * Splits tokens into words: at blanks and punctuation, or at characters. A token that ends inside a character goes on
 * in the next one.
 */
export function splitWords(
  tokenizer: Pick<Tokenizer, 'bytes'>,
  tokens: readonly number[],
  language: string,
): SpelledWord[] {
  const pieces = splitCharacters(tokenizer, tokens)
  if (withoutBlanks.has(language)) return pieces
  const words: SpelledWord[] = []
  for (const piece of pieces) {
    const last = words.at(-1)
    const begins = piece.word.startsWith(' ') || isPunctuation(piece.word) || last === undefined
    if (begins) words.push({...piece})
    else {
      last.word += piece.word
      last.tokens += piece.tokens
    }
  }
  return words
}

const isPunctuation = (text: string) => /^[!-/:-@[-`{-~]$/.test(text.trim())

/** The fewest tokens at a time that make whole characters. */
function splitCharacters(tokenizer: Pick<Tokenizer, 'bytes'>, tokens: readonly number[]): SpelledWord[] {
  const pieces: SpelledWord[] = []
  let held: Buffer[] = []
  for (const token of tokens) {
    held.push(tokenizer.bytes(token))
    const word = decodeWhole(Buffer.concat(held))
    if (word === undefined) continue
    pieces.push({word, tokens: held.length})
    held = []
  }
  if (held.length > 0) pieces.push({word: Buffer.concat(held).toString('utf8'), tokens: held.length})
  return pieces
}

function decodeWhole(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Signs that belong to the word after them, and to the word before. */
const opening = '"\'“¿([{-'
const closing = '"\'.。,，!！?？:：”)]}、'

/** Joins signs to their words; times grow with them. */
export function attachPunctuation(words: readonly WordTiming[]): WordTiming[] {
  const forward: WordTiming[] = []
  for (const word of [...words].reverse()) {
    const next = forward.at(-1)
    const opens = word.word.startsWith(' ') && opening.includes(word.word.trim())
    if (next !== undefined && opens) forward[forward.length - 1] = {...next, word: word.word + next.word}
    else forward.push(word)
  }
  const joined: WordTiming[] = []
  for (const word of forward.reverse()) {
    const before = joined.at(-1)
    if (before !== undefined && !before.word.endsWith(' ') && word.word !== '' && closing.includes(word.word))
      joined[joined.length - 1] = {...before, word: before.word + word.word}
    else joined.push(word)
  }
  return joined
}

const sentenceEnds = '.。!！?？'

/** The longest a typical word lasts, seconds. */
const longestMedianSec = 0.7

/**
 * Words at the edges of sentences soak up the pause beside them: they are cut to twice the median length.
 * Source: the heuristics of openai/whisper.
 */
export function trimAtSentenceEnds(words: readonly WordTiming[]): WordTiming[] {
  const limit = 2 * medianSec(words)
  if (limit === 0) return [...words]
  return words.map((word, i) => {
    const before = words[i - 1]
    if (before === undefined || word.endSec - word.startSec <= limit) return word
    if (isEnd(word)) return {...word, endSec: word.startSec + limit}
    return isEnd(before) ? {...word, startSec: word.endSec - limit} : word
  })
}

const isEnd = ({word}: WordTiming) => word !== '' && sentenceEnds.includes(word)

/** Median length of the words that have one, at most 0.7 s. */
export function medianSec(words: readonly WordTiming[]): number {
  const lengths = words.map(({startSec, endSec}) => endSec - startSec).filter((length) => length > 0)
  lengths.sort((a, b) => a - b)
  return Math.min(longestMedianSec, lengths[lengths.length >> 1] ?? 0)
}
