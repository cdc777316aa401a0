import type {Segment} from '../model/model.js'

/** Returns one segment with this text in place of the segments; without segments, none. */
export function mergeSegments(segments: readonly Segment[], text: string): Segment[] {
  const [first, last] = [segments[0], segments.at(-1)]
  if (first === undefined || last === undefined) return []
  const max = (read: (segment: Segment) => number) => Math.max(...segments.map(read))
  const tokens = segments.flatMap((segment) => segment.tokens)
  const logprob = segments.reduce((sum, {avgLogprob, tokens: {length}}) => sum + avgLogprob * length, 0)
  return [
    {
      startSec: first.startSec,
      endSec: last.endSec,
      text,
      tokens,
      temperature: max((segment) => segment.temperature),
      avgLogprob: logprob / Math.max(1, tokens.length),
      compressionRatio: max((segment) => segment.compressionRatio),
      noSpeechProb: max((segment) => segment.noSpeechProb),
      ...(segments.every(({words}) => words === undefined) ? {} : {words: segments.flatMap(({words = []}) => words)}),
      ...(first.speaker === undefined ? {} : {speaker: first.speaker}),
      ...(segments.every(({pieces}) => pieces === undefined)
        ? {}
        : {pieces: segments.flatMap(({pieces = []}) => pieces)}),
    },
  ]
}
