import type {TranscribedFile} from '../speech/index.js'
import {formatTable} from './table.js'

/** The figures of a transcription as a table; empty for a text that was only cleaned up. */
export async function transcriptionFigures({recording, transcript}: TranscribedFile): Promise<string> {
  if (recording === undefined) return ''
  const {timingsPayload} = await import('../speech/index.js')
  const {total_ms, load_ms, rtf, windows, whole_heads} = timingsPayload(recording, transcript.durationSec)
  const {segments, durationSec} = transcript
  const tokens = segments.reduce((sum, segment) => sum + segment.tokens.length, 0)
  const temperatures = [...new Set(segments.map(({temperature}) => temperature))].sort((a, b) => a - b)
  const figures = [
    ['audio', `${durationSec.toFixed(1)} s`],
    ['load time', `${load_ms} ms`],
    ['processing time', `${((total_ms - load_ms) / 1000).toFixed(1)} s, real-time factor ${rtf}`],
    ['windows', `${windows}`],
    ['tokens', `${tokens}; whole vocabulary computed for ${whole_heads}`],
    ['temperatures', temperatures.join(', ') || '-'],
    ['peak memory', `${Math.round(process.resourceUsage().maxRSS / 1024)} MB`],
  ]
  return formatTable(['FIGURE', 'VALUE'], figures).trimEnd()
}
