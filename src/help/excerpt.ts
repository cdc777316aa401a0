import {termsOf} from './terms.js'

/** Rows from which a table is shown in part. */
const longTable = 8

/**
 * The part of a text that answers a question: the whole blocks with most of its words, in their order. Blocks are paragraphs,
 * short tables, rows of long ones, code, and items of a list. A short text is the answer as a whole. Code follows the paragraph before it.
 * @param values What each term of the question, or another word for it, says about a text.
 * @param enough Maximum lines, without those of the last block.
 */
export function excerptFor(values: ReadonlyMap<string, number>, text: string, enough: number): string {
  const blocks = blocksOf(text)
  const value = (block: string) => [...new Set(termsOf(block))].reduce((sum, term) => sum + (values.get(term) ?? 0), 0)
  const order = blocks
    .map((block, at) => ({at, value: value(block) + (at === 0 ? 0.5 : 0)}))
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
    if (isRow(blocks[at])) choose(headOf(blocks, at))
  }
  const shown = blocks.flatMap((block, at) => (chosen.has(at) ? [{block, at}] : []))
  return shown
    .map(({block}, i) => (i === 0 ? '' : isJoined(shown[i - 1]?.block, block) ? '\n' : '\n\n') + block)
    .join('')
}

const isCode = (block: string | undefined) => block?.startsWith('```') ?? false

const isItem = (block: string | undefined) => block?.startsWith('- ') ?? false

const isRow = (block: string | undefined) => block?.startsWith('| ') ?? false

/** Items of a list, and rows of a table, have no blank line between them. */
const isJoined = (before: string | undefined, block: string) =>
  (isItem(before) && isItem(block)) || (isRow(before) && isRow(block))

/** The first line of the table of a row. */
function headOf(blocks: readonly string[], row: number): number {
  let at = row
  while (isRow(blocks[at - 1])) at -= 1
  return at
}

const linesOf = (block: string) =>
  block.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 100)), 0)

/** Paragraphs, tables, fenced code, items of lists, and rows of long tables after their head. */
function blocksOf(text: string): string[] {
  const blocks: string[] = []
  let open = false
  for (const part of text.split('\n\n')) {
    const lines = part.split('\n')
    if (open) blocks.push(`${blocks.pop()}\n\n${part}`)
    else if (/^- /.test(part)) blocks.push(...part.split(/\n(?=- )/))
    else if (isRow(part) && lines.length > longTable) blocks.push(lines.slice(0, 2).join('\n'), ...lines.slice(2))
    else blocks.push(part)
    const fences = part.match(/^```/gm)?.length ?? 0
    if (fences % 2 === 1) open = !open
  }
  return blocks
}
