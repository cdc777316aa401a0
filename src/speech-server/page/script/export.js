/** Files of the transcript. Subtitles are those of svc transcribe. */
import {createFormat} from '../../../speech/transcript/formats.js'

/**
 * @param format text, srt, vtt or json
 * @param segments in seconds
 */
export function exportTranscript(format, segments) {
  const text = segments.map((segment) => segment.text).join(' ')
  if (format === 'json') return {extension: '.json', content: `${JSON.stringify(jsonOf(text, segments), null, 2)}\n`}
  const {extension, header, segment, footer} = createFormat(format)
  const durationSec = segments.at(-1)?.endSec ?? 0
  return {extension, content: header() + segments.map(segment).join('') + footer({segments, text, durationSec})}
}

/** Segments with the field names of the server. */
const jsonOf = (text, segments) => ({
  text,
  segments: segments.map(({words, ...segment}, id) => ({
    id,
    ...timesOf(segment),
    text: segment.text,
    ...(words === undefined ? {} : {words: words.map((each) => ({word: each.word.trim(), ...timesOf(each)}))}),
  })),
})

const timesOf = ({startSec, endSec}) => ({start_ms: Math.round(1000 * startSec), end_ms: Math.round(1000 * endSec)})

/** Saves a text as a file. */
export function download(name, content) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([content], {type: 'text/plain'}))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
