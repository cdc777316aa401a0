import {synonymsOf, termsOf} from './terms.js'

/** Maximum lines of an excerpt, without the lines of its last block. */
const enough = 16

/**
 * The part of a text that answers a question: whole blocks (paragraphs, tables, code, items of a list), those with most of
 * its words, in their order. A short text is the answer as a whole. Code follows the paragraph before it.
 */
export function excerptFor(question: string, text: string): string {
  const blocks = blocksOf(text)
  const wanted = new Set(termsOf(question).flatMap((term) => [term, ...synonymsOf(term)]))
  const wordsIn = (block: string) => new Set(termsOf(block).filter((term) => wanted.has(term))).size
  const order = blocks
    .map((block, at) => ({at, value: wordsIn(block) + (at === 0 ? 0.5 : 0)}))
    .sort((a, b) => b.value - a.value || a.at - b.at)
  const chosen = new Set<number>()
  let lines = 0
  const choose = (at: number) => {
    if (chosen.has(at)) return
    chosen.add(at)
    lines += linesOf(blocks[at] ?? '')
  }
  for (const {at} of order) {
    if (lines >= enough) break
    choose(at)
    if (isCode(blocks[at + 1])) choose(at + 1)
  }
  const shown = blocks.flatMap((block, at) => (chosen.has(at) ? [{block, at}] : []))
  return shown
    .map(({block, at}, i) => (i === 0 ? '' : isItem(block) && isItem(blocks[at - 1]) ? '\n' : '\n\n') + block)
    .join('')
}

const isCode = (block: string | undefined) => block?.startsWith('```') ?? false

const isItem = (block: string | undefined) => block?.startsWith('- ') ?? false

const linesOf = (block: string) =>
  block.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 100)), 0)

/** Paragraphs, tables, fenced code, and items of lists. */
function blocksOf(text: string): string[] {
  const blocks: string[] = []
  let open = false
  for (const part of text.split('\n\n')) {
    if (open) blocks.push(`${blocks.pop()}\n\n${part}`)
    else if (/^- /.test(part)) blocks.push(...part.split(/\n(?=- )/))
    else blocks.push(part)
    const fences = part.match(/^```/gm)?.length ?? 0
    if (fences % 2 === 1) open = !open
  }
  return blocks
}
