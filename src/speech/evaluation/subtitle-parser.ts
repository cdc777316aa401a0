export interface Subtitle {
  startMs: number
  endMs: number
  /** Text of the lines, joined. */
  text: string
}

const times = /^\s*(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})\s*-->\s*(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/

/** WebVTT blocks without subtitles. */
const unshown = /^(?:NOTE|STYLE|REGION)(?:\s|$)/

/** Tags of both formats and karaoke timestamps; other angle brackets, as in code, are text. */
const tags = /<\/?(?:[bciusv]|font|lang|rt|ruby)(?:[\s.][^<>]*)?>|<[\d:.]+>|\{\\[^{}]*\}/gi

/** Parses SRT or WebVTT. Ignores notes, styles and settings, and blocks without times or text. */
export function parseSubtitles(document: string): Subtitle[] {
  const blocks = document
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .split(/\n[ \t]*\n+/)
  return blocks.flatMap((block) => {
    const lines = block.replace(/^\n+/, '').split('\n')
    if (unshown.test(lines[0] ?? '')) return []
    const at = lines.findIndex((line) => times.test(line))
    const found = at < 0 ? undefined : times.exec(lines[at] ?? '')
    if (found === null || found === undefined) return []
    const text = lines
      .slice(at + 1)
      .map((line) => line.replace(tags, '').trim())
      .filter(Boolean)
      .join(' ')
    return text === ''
      ? []
      : [{startMs: timeOf(found.slice(1, 5)), endMs: timeOf(found.slice(5, 9)), text: unescaped(text)}]
  })
}

const timeOf = ([hours = '0', minutes = '0', seconds = '0', fraction = '0']: readonly (string | undefined)[]): number =>
  3_600_000 * Number(hours) + 60_000 * Number(minutes) + 1000 * Number(seconds) + Number(fraction.padEnd(3, '0'))

const unescaped = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&nbsp;', ' ').replaceAll('&amp;', '&')

/** Mean difference of start and end times of blocks with the same index, ms; 0 if a file is empty. */
export function timingOffsetMs(reference: readonly Subtitle[], hypothesis: readonly Subtitle[]): number {
  const pairs = reference.slice(0, hypothesis.length).map((block, i) => [block, hypothesis[i] as Subtitle] as const)
  if (pairs.length === 0) return 0
  const sum = pairs.reduce((total, [a, b]) => total + Math.abs(a.startMs - b.startMs) + Math.abs(a.endMs - b.endMs), 0)
  return sum / (2 * pairs.length)
}
