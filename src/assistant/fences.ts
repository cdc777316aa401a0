/** A block between two fences of backticks or tildes, as Markdown has them. */
export interface FencedBlock {
  /** Without the fences. */
  content: string
  /** False where the text ends before the block. */
  isClosed: boolean
}

/** Up to three blanks, the fence, and words about the block; behind backticks they have none themselves. */
const fence = /^ {0,3}(`{3,}(?!.*`)|~{3,})(.*)$/

/** The fenced blocks of a text, in their order. Source: CommonMark 0.31, section 4.5. */
export function fencedBlocks(text: string): FencedBlock[] {
  const blocks: FencedBlock[] = []
  let open: {mark: string; lines: string[]} | undefined
  for (const line of text.split(/\r?\n/)) {
    const [, mark = '', rest = ''] = fence.exec(line) ?? []
    if (open === undefined) {
      if (mark !== '') open = {mark, lines: []}
    } else if (mark.startsWith(open.mark) && rest.trim() === '') {
      blocks.push({content: open.lines.join('\n'), isClosed: true})
      open = undefined
    } else open.lines.push(line)
  }
  if (open !== undefined) blocks.push({content: open.lines.join('\n'), isClosed: false})
  return blocks
}

/** A text between fences that nothing in it can be taken for. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const mark = '`'.repeat(longest + 1)
  return `${mark}\n${text.replace(/\n$/, '')}\n${mark}`
}
