import type {Span, SpanKind} from './spans.js'

/** A copy of a text in which the characters of some spans are replaced, except for line feeds; offsets are the same. */
export function viewOf(text: string, spans: readonly Span[], masks: Partial<Record<SpanKind, string>>): string {
  return spans
    .map(({kind, start, end}) => {
      const part = text.slice(start, end)
      const mask = masks[kind]
      return mask === undefined ? part : masked(part, mask)
    })
    .join('')
}

/** Replaces everything but line feeds. */
function masked(text: string, mask: string): string {
  let result = ''
  let at = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', at)) {
    result += `${mask.repeat(end - at)}\n`
    at = end + 1
  }
  return result + mask.repeat(text.length - at)
}

/** A function that returns the line at an offset, from 1. */
export function lineFinder(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}
