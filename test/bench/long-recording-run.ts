/**
 * Transcribes a recording with a scripted model, and prints the memory of the process as JSON: `RECORDING OUTPUT MODE`.
 * `text` streams the text; `all` also has words, alternatives, a progress file, and `verbose_json` at the end.
 */
import {writeFile} from 'node:fs/promises'
import {round} from '../../src/bench/measure.js'
import {resolveSettings, speechAudioSettings, speechRefineSettings, speechSettings} from '../../src/config/index.js'
import {randomSource} from '../../src/sampling/index.js'
import {
  createFormat,
  ModelHolder,
  type Segment,
  Transcriber,
  transcriberOptions,
  writeTranscript,
} from '../../src/speech/index.js'

const [recording = '', output = '', mode] = process.argv.slice(2)
const all = mode === 'all'
const sources = {flags: {}, env: {}}
const options = transcriberOptions(
  {
    speech: resolveSettings(speechSettings, sources).values,
    audio: resolveSettings(speechAudioSettings, sources).values,
    refine: resolveSettings(speechRefineSettings, sources).values,
  },
  {entries: []},
  [],
)

const random = randomSource(7)
const known = 'the server has finished all tests and we plan to restart it tomorrow with another database'.split(' ')
/** Words of a second of speech. */
const rate = 3
/** Words of a segment. */
const length = 14

function segmentAt(startSec: number): Segment {
  const words = Array.from({length}, (_, i) => ({
    word: ` ${known[Math.floor(known.length * random())]}`,
    startSec: startSec + i / rate,
    endSec: startSec + (i + 1) / rate,
    probability: random(),
  }))
  return {
    startSec,
    endSec: startSec + length / rate,
    text: words.map(({word}) => word).join(''),
    tokens: words.map(() => Math.floor(50_000 * random())),
    temperature: 0,
    avgLogprob: -random(),
    compressionRatio: 1.4,
    noSpeechProb: 0.01,
    ...(all ? {words} : {}),
  }
}

const model = new ModelHolder({
  locate: async () => ({name: 'scripted', path: recording}),
  engine: {threads: 1, device: 'cpu', precision: 'f32', backend: 'auto', derivedFolder: ''},
})
model.open = async () => ({
  loadMs: 0,
  engine: {
    loadMs: 0,
    description: {
      family: 'whisper',
      name: 'scripted',
      path: recording,
      precision: 'f32',
      device: 'cpu',
      windowSec: 30,
      timestamps: true,
      languages: ['en'],
      wordTimings: true,
      translates: false,
      batch: 0,
      instances: 1,
      drafts: 'window',
    },
    recognise: async (samples) => {
      const sec = samples.length / 16_000
      const segments = Array.from({length: Math.floor((sec * rate) / length)}, (_, i) => segmentAt((i * length) / rate))
      const text = segments.map((segment) => segment.text).join('')
      const other = () => ({
        text: `${text.slice(0, -8)} ${known[Math.floor(known.length * random())]}`,
        score: -3 * random(),
      })
      return {
        segments,
        consumedSec: sec,
        language: 'en',
        languageProbability: 1,
        noSpeech: false,
        temperature: 0,
        alternatives: all ? [{text, score: 0}, ...Array.from({length: 4}, other)] : [],
        warnings: [],
        timings: {featuresMs: 0, encodeMs: 0, decodeMs: 0, wholeHeads: 0},
      }
    },
    detectLanguage: async () => [{language: 'en', probability: 1}],
    release: async () => undefined,
  },
})

const transcriber = new Transcriber({
  ...options,
  model,
  refine: true,
  decoding: {...options.decoding, wordTimestamps: all, alternatives: all ? 5 : 1},
})
const format = createFormat('text')
let characters = 0
const file = await transcriber.transcribe(
  {path: recording},
  {
    onSegment: (segment) => {
      characters += format.segment(segment).length
    },
    progress: all ? {path: `${output}.progress`, resume: false} : undefined,
  },
)
if (all) await writeFile(output, writeTranscript('verbose_json', file.transcript))
const peak = process.resourceUsage().maxRSS / 1024
globalThis.gc?.()
process.stdout.write(
  JSON.stringify({
    peak_rss_mb: round(peak),
    heap_mb: round(process.memoryUsage().heapUsed / 2 ** 20),
    windows: file.recording?.timings.windows,
    characters,
  }),
)
