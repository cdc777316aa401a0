/** A fenced code block with backticks or tildes, as in Markdown. */
export interface FencedBlock {
  /** Without the fences. */
  content: string
  /** False if the text ends before the closing fence. */
  isClosed: boolean
}

/** Up to three spaces, the fence, and the info string, which contains no backticks after a backtick fence. */
const fence = /^ {0,3}(`{3,}(?!.*`)|~{3,})(.*)$/

/** The fenced blocks of a text, in order. Source: CommonMark 0.31, section 4.5. */
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

/** Encloses a text in a fence that does not occur in it. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const mark = '`'.repeat(longest + 1)
  return `${mark}\n${text.replace(/\n$/, '')}\n${mark}`
}
