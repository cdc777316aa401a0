import {createFormat, type TranscriptFormatName} from './formats.js'
import type {SubtitleShape} from './subtitle-blocks.js'
import type {Transcript} from './transcript.js'

export function writeTranscript(name: TranscriptFormatName, transcript: Transcript, shape?: SubtitleShape): string {
  const format = createFormat(name, shape)
  const segments = transcript.segments.map((segment) => format.segment(segment))
  return format.header() + segments.join('') + format.footer(transcript)
}
