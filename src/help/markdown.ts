/** A part of a page under one heading, or one item of a list of settings. */
export interface Section {
  /** Titles from that of the page to the innermost heading. */
  headings: string[]
  /** The Markdown, without its heading. */
  text: string
}

/** Splits a page at its headings. An item that starts with a name in backticks, as each setting does, is a section, too. */
export function sectionsOf(page: string): Section[] {
  const sections: Section[] = []
  let headings: string[] = []
  let lines: string[] = []
  let item: string | undefined
  let fence: string | undefined
  const end = () => {
    const text = lines.join('\n').trim()
    if (text !== '') sections.push({headings: item === undefined ? headings : [...headings, item], text})
    lines = []
  }
  for (const line of page.split('\n')) {
    const [mark = ''] = /^ *(```+|~~~+)/.exec(line)?.slice(1) ?? []
    if (fence === undefined && mark !== '') fence = mark
    else if (fence !== undefined && mark === fence) fence = undefined
    const heading = fence === undefined ? /^(#{1,6}) (.*)/.exec(line) : null
    const name = fence === undefined ? /^- (`[\w.]+`(?:, `[\w.]+`)*)$/.exec(line)?.[1] : undefined
    if (heading !== null || name !== undefined) end()
    if (heading !== null) {
      const [, {length: level} = '', title = ''] = heading
      headings = [...headings.slice(0, level - 1), title]
      item = undefined
    } else if (name === undefined) lines.push(line)
    else item = name
  }
  end()
  return sections
}
