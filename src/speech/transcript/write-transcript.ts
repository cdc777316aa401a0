import {createFormat, type TranscriptFormatName} from './formats.js'
import type {SubtitleShape} from './subtitle-blocks.js'
import type {Transcript} from './transcript.js'

/** A whole transcript in a format, and how many blocks or lines its segments gave. */
export function writeTranscript(
  name: TranscriptFormatName,
  transcript: Transcript,
  shape?: SubtitleShape,
): {text: string; blocks: number} {
  const format = createFormat(name, shape)
  const segments = transcript.segments.map((segment) => format.segment(segment))
  const blocks = segments.join('').split(' --> ').length - 1
  return {text: format.header() + segments.join('') + format.footer(transcript), blocks}
}
