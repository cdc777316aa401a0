import type {Segment, WordTiming} from '../model/model.js'
import {languageName} from '../text/languages.js'
import {oneLine} from './one-line.js'
import {type SubtitleBlock, type SubtitleShape, subtitleBlocks, type TimedText} from './subtitle-blocks.js'
import {timestamp} from './timestamp.js'
import type {Transcript} from './transcript.js'

export const transcriptFormats = ['text', 'json', 'verbose_json', 'srt', 'vtt', 'lrc', 'tsv', 'csv', 'ndjson'] as const
export type TranscriptFormatName = (typeof transcriptFormats)[number]

/** Formats a transcript incrementally: segments as they become final, or everything at the end. */
export interface TranscriptFormat {
  /** File extension, with its dot. */
  readonly extension: string
  readonly mediaType: string
  header(): string
  segment(segment: Segment): string
  footer(transcript: Transcript): string
}

const makers: Record<TranscriptFormatName, (shape: SubtitleShape | undefined) => TranscriptFormat> = {
  text: () => {
    let last: string | undefined
    return lines({extension: '.txt', mediaType: 'text/plain'}, (segment) => {
      const isSame = segment.speaker === last
      last = segment.speaker
      return oneLine((isSame ? segment : labelled(segment)).text)
    })
  },
  json: () => ({
    ...nothing,
    extension: '.json',
    mediaType: 'application/json',
    footer: ({text}) => `${JSON.stringify({text: text.trim()})}\n`,
  }),
  verbose_json: () => ({
    ...nothing,
    extension: '.json',
    mediaType: 'application/json',
    footer: (transcript) => `${JSON.stringify(verboseJson(transcript))}\n`,
  }),
  srt: (shape) => {
    let count = 0
    const write = (block: SubtitleBlock) =>
      `${++count}\n${timestamp(block.startMs, ',')} --> ${timestamp(block.endMs, ',')}\n${blockText(block)}\n\n`
    const format = subtitles({extension: '.srt', mediaType: 'application/x-subrip'}, '', write, shape)
    return {...format, segment: (segment) => format.segment(labelled(segment))}
  },
  vtt: (shape) => {
    // An arrow in the text would be parsed as a time line.
    const plain = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('-->', '--&gt;')
    const voice = (speaker: string | undefined) =>
      speaker === undefined ? '' : `<v ${plain(oneLine(speaker)).replaceAll('>', '&gt;')}>`
    const write = (block: SubtitleBlock, speaker: string | undefined) => {
      const times = `${timestamp(block.startMs, '.')} --> ${timestamp(block.endMs, '.')}`
      return `${times}\n${voice(speaker)}${blockText(block, plain)}\n\n`
    }
    return subtitles({extension: '.vtt', mediaType: 'text/vtt'}, 'WEBVTT\n\n', write, shape)
  },
  tsv: () => table({extension: '.tsv', mediaType: 'text/tab-separated-values'}, '\t', oneLine),
  csv: () =>
    table({extension: '.csv', mediaType: 'text/csv'}, ',', (text) => `"${oneLine(text).replaceAll('"', '""')}"`),
  lrc: () =>
    lines(
      {extension: '.lrc', mediaType: 'text/plain'},
      (segment) => `[${lyricsTime(segment.startSec)}]${oneLine(labelled(segment).text)}`,
    ),
  ndjson: () => {
    let count = 0
    return {
      ...nothing,
      extension: '.ndjson',
      mediaType: 'application/x-ndjson',
      segment: (segment) => `${JSON.stringify({...segmentJson(segment, count++), ...wordsJson(segment)})}\n`,
    }
  },
}

type FormatKind = Pick<TranscriptFormat, 'extension' | 'mediaType'>

/** A line for each segment with text. */
const lines = (kind: FormatKind, write: (segment: Segment) => string): TranscriptFormat => ({
  ...nothing,
  ...kind,
  segment: (segment) => (segment.text.trim() === '' ? '' : `${write(segment)}\n`),
})

/** A row for each segment with text. The first segment decides whether there is a column for the speakers. */
function table(kind: FormatKind, mark: string, quote: (text: string) => string): TranscriptFormat {
  let hasHeader = false
  const header = (speaker?: string) => {
    if (hasHeader) return ''
    hasHeader = true
    return `${['start', 'end', ...(speaker === undefined ? [] : ['speaker']), 'text'].join(mark)}\n`
  }
  const rows = lines(kind, (segment) => {
    const {speaker, text} = segment
    return [...timesOf(segment), ...(speaker === undefined ? [] : [quote(speaker)]), quote(text)].join(mark)
  })
  return {...rows, segment: (segment) => header(segment.speaker) + rows.segment(segment), footer: () => header()}
}

/** A segment whose text begins with the name of its speaker, if it has one. */
function labelled(segment: Segment): Segment {
  const {speaker, text, words} = segment
  if (speaker === undefined || text.trim() === '') return segment
  const label = (spoken: string) => `${speaker}: ${spoken.trimStart()}`
  const first = words?.findIndex(({word}) => word.trim() !== '') ?? -1
  return {
    ...segment,
    text: label(text),
    ...(words && {words: words.map((word, i) => (i === first ? {...word, word: label(word.word)} : word))}),
  }
}

/** Start and end, ms. */
const timesOf = ({startSec, endSec}: Segment) => [startSec, endSec].map((seconds) => Math.round(1000 * seconds))

/** A time as in lyrics: `MM:SS.cc`, with as many minutes as needed. */
function lyricsTime(startSec: number): string {
  const hundredths = Math.max(0, Math.round(100 * startSec))
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(Math.floor(hundredths / 6000))}:${two(Math.floor(hundredths / 100) % 60)}.${two(hundredths % 100)}`
}

const nothing = {header: () => '', segment: () => '', footer: () => ''}

/** Creates a format for one transcript; subtitle formats number their blocks. */
export const createFormat = (name: TranscriptFormatName, shape?: SubtitleShape): TranscriptFormat => makers[name](shape)

/** Returns the format of a file name by its extension; undefined if there is none. */
export const formatOfFile = (path: string): TranscriptFormatName | undefined =>
  transcriptFormats.find((name) => path.toLowerCase().endsWith(createFormat(name).extension))

/** Extensions of documents, recordings and subtitles that are no format of transcripts here. */
const foreignExtensions: ReadonlySet<string> = new Set(
  `doc docx odt rtf pdf pages md tex html htm xml xls xlsx ods ppt pptx epub yaml yml
  ass ssa sub sbv ttml dfxp stl textgrid
  wav mp3 m4a m4b aac flac ogg oga opus wma aiff amr weba webm mp4 m4v mkv mov avi mpg mpeg`.split(/\s+/),
)

/** Whether a file name promises a format that transcripts cannot have. */
export const hasForeignExtension = (path: string): boolean =>
  foreignExtensions.has(/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '')

/** Returns subtitle blocks in order, without overlaps of one speaker; text without segments is shown for the entire duration. */
function subtitles(
  kind: FormatKind,
  header: string,
  write: (block: SubtitleBlock, speaker: string | undefined) => string,
  shape: SubtitleShape | undefined,
): TranscriptFormat {
  const ends = new Map<string | undefined, number>()
  const writeText = (text: TimedText, speaker?: string) =>
    subtitleBlocks(text, shape)
      .map((block) => {
        const startMs = Math.max(block.startMs, ends.get(speaker) ?? 0)
        const endMs = Math.max(block.endMs, startMs + 1)
        ends.set(speaker, endMs)
        return write({...block, startMs, endMs}, speaker)
      })
      .join('')
  return {
    ...kind,
    header: () => header,
    segment: (segment) => writeText(segment, segment.speaker),
    footer: ({segments, text, durationSec}) => {
      const rest = segments.length > 0 ? '' : writeText({text, startSec: 0, endSec: durationSec})
      // Programs that read subtitles treat an empty file as damaged.
      return ends.size === 0 && header === '' ? '\n' : rest
    },
  }
}

/** The lines of a block, with the spoken word underlined. */
const blockText = ({lines, spoken}: SubtitleBlock, encode = (text: string) => text): string =>
  lines
    .map((line, i) => {
      if (spoken?.line !== i) return encode(line)
      const {from, to} = spoken
      return `${encode(line.slice(0, from))}<u>${encode(line.slice(from, to))}</u>${encode(line.slice(to))}`
    })
    .join('\n')

/** The response format `verbose_json` of OpenAI. */
function verboseJson({task, language, durationSec, text, segments}: Transcript) {
  const words = segments.flatMap((segment) => segment.words ?? [])
  const timed = segments.some((segment) => segment.words !== undefined)
  return {
    task,
    language: languageName(language) ?? language,
    duration: seconds(durationSec),
    text: text.trim(),
    segments: segments.map(segmentJson),
    ...(timed ? {words: words.map(({word, startSec, endSec}) => wordJson(word.trim(), startSec, endSec))} : {}),
    usage: {type: 'duration', seconds: Math.ceil(durationSec)},
  }
}

const segmentJson = (segment: Segment, id: number) => ({
  id,
  seek: Math.round(100 * segment.startSec),
  start: seconds(segment.startSec),
  end: seconds(segment.endSec),
  ...(segment.speaker === undefined ? {} : {speaker: segment.speaker}),
  text: segment.text,
  tokens: segment.tokens,
  temperature: segment.temperature,
  avg_logprob: rounded(segment.avgLogprob),
  compression_ratio: rounded(segment.compressionRatio),
  no_speech_prob: rounded(segment.noSpeechProb),
})

const wordJson = (word: string, startSec: number, endSec: number) => ({
  word,
  start: seconds(startSec),
  end: seconds(endSec),
})

const wordsJson = ({words}: Segment) =>
  words === undefined
    ? {}
    : {
        words: words.map(({word, startSec, endSec, probability}: WordTiming) => ({
          ...wordJson(word.trim(), startSec, endSec),
          probability: rounded(probability),
        })),
      }

const seconds = (value: number) => Math.round(1000 * value) / 1000
const rounded = (value: number) => Math.round(1e6 * value) / 1e6
