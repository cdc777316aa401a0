import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {AudioStream, SpeechRegion, VoiceActivityDetector} from '../../../src/audio/index.js'
import {defaultTranscribeOptions, type SpeechModel, transcribe, type WindowResult} from '../../../src/speech/index.js'
import {advanced} from '../../../src/speech/transcribe/advanced.js'
import {Recording} from '../../../src/speech/transcribe/recording.js'
import {seeded} from '../../support/random.js'

const rate = 16_000

/** A recording, a model and options. Lengths are samples. */
interface Case {
  length: number
  piece: number
  /** Undefined if speech is not detected. */
  regions: SpeechRegion[] | undefined
  window: number
  timestamps: boolean
  chunkSec: number
  chunkOverlapSec: number
  batch: number
  speechPadSec: number
  /** Share of a window that the model consumes. */
  consumed: () => number
}

function randomCase(seed: number): Case {
  const {next: pick, below} = seeded(seed)
  const length = 1 + below(3 * rate)
  const regions: SpeechRegion[] = []
  for (let at = below(4000); at < length && pick() < 0.95; ) {
    const end = Math.min(length, at + 1 + below(pick() < 0.3 ? 2 * rate : 4000))
    regions.push({start: at, end})
    at = end + 1 + below(4000)
  }
  return {
    length,
    piece: 3000 + below(rate),
    regions: pick() < 0.8 ? regions : undefined,
    window: 4000 + below(rate),
    timestamps: pick() < 0.5,
    chunkSec: pick() < 0.3 ? 0 : 0.1 + pick(),
    chunkOverlapSec: pick() < 0.5 ? 0 : pick(),
    batch: 1 + below(4),
    speechPadSec: pick() < 0.7 ? 0 : 0.2 * pick(),
    consumed: () => (pick() < 0.05 ? 0 : 0.2 + 0.8 * pick()),
  }
}

const positions = Float32Array.from({length: 3 * rate}, (_, i) => i)

/** Samples are their own positions. */
const audioOf = ({length, piece}: Case): AudioStream => ({
  sampleRate: rate,
  source: {container: 'test', codec: 'test', sampleRate: rate, channels: 1},
  durationSec: length / rate,
  async *[Symbol.asyncIterator]() {
    for (let at = 0; at < length; at += piece) yield positions.slice(at, Math.min(at + piece, length))
  },
})

/** A detector that knows the regions in advance. */
function detectorOf(regions: readonly SpeechRegion[]): VoiceActivityDetector {
  let read = 0
  let reported = 0
  const ended = () => {
    const first = reported
    reported = Math.max(reported, regions.filter(({end}) => end < read).length)
    return regions.slice(first, reported)
  }
  return {
    push: async (samples) => {
      read += samples.length
      return ended()
    },
    flush: async () => {
      read = Infinity
      return ended()
    },
    get open() {
      const region = regions[reported]
      return region !== undefined && region.start < read ? {start: region.start, end: read} : undefined
    },
    get settled() {
      return Math.min(read, regions[reported]?.start ?? read)
    },
    snapshot: () => ({length: read}),
  }
}

/** Transcribes with a model that records the windows it gets. */
async function windowsOf(given: Case): Promise<SpeechRegion[]> {
  const windows: SpeechRegion[] = []
  const read = (samples: Float32Array): WindowResult => {
    assert.ok(samples.length > 0, 'a window has audio')
    assert.ok(windows.length < 10_000, 'the transcription ends')
    windows.push({start: samples[0]!, end: samples[0]! + samples.length})
    return {
      segments: [],
      consumedSec: given.timestamps ? (given.consumed() * samples.length) / rate : samples.length / rate,
      language: 'en',
      languageProbability: 1,
      noSpeech: false,
      temperature: 0,
      alternatives: [],
      warnings: [],
      timings: {featuresMs: 0, encodeMs: 0, decodeMs: 0, wholeHeads: 0},
    }
  }
  const model: SpeechModel = {
    description: {
      family: given.timestamps ? 'whisper' : 'ctc',
      name: 'test',
      path: '',
      precision: 'f32',
      device: 'cpu',
      windowSec: given.window / rate,
      timestamps: given.timestamps,
      languages: ['en'],
      wordTimings: false,
      translates: false,
      batch: given.batch,
      instances: 1,
      drafts: 'window',
    },
    recognise: async (samples) => read(samples),
    recogniseAll: async (all) => all.map(read),
    detectLanguage: async () => [],
    release: async () => undefined,
  }
  const {chunkSec, chunkOverlapSec, batch, speechPadSec, regions} = given
  const options = {...defaultTranscribeOptions, language: 'en', chunkSec, chunkOverlapSec, batch}
  const recording = new Recording(audioOf(given), regions && detectorOf(regions), speechPadSec)
  for await (const {type} of transcribe(model, recording, options)) if (type === 'done') return windows
  throw new Error('There is no transcript.')
}

/** The part of a region that no window contains. */
function unheard({start, end}: SpeechRegion, windows: readonly SpeechRegion[]): number | undefined {
  let at = start
  for (const window of windows.toSorted((a, b) => a.start - b.start))
    if (window.start <= at) at = Math.max(at, window.end)
  return at < end ? at : undefined
}

describe('a transcription', () => {
  it('ends, and recognises all speech, for any regions, borders, overlaps and batches', async () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const given = randomCase(seed)
      const what = () => JSON.stringify({seed, ...given})
      const windows = await windowsOf(given).catch((error: Error) => assert.fail(`${error.message} ${what()}`))
      for (const region of given.regions ?? [{start: 0, end: given.length}])
        assert.equal(unheard(region, windows), undefined, what())
    }
  })

  it('fails if a loop does not advance, or if the decoder returns no samples for ever', async () => {
    assert.equal(advanced(1, 2), 2)
    for (const next of [1, 0, NaN]) assert.throws(() => advanced(1, next), /no progress at sample 1/)
    const endless: AudioStream = {
      ...audioOf(randomCase(1)),
      async *[Symbol.asyncIterator]() {
        for (;;) yield new Float32Array(0)
      },
    }
    await assert.rejects(new Recording(endless).fill(1), /no progress at sample 0/)
  })
})

describe('the start of a recording', () => {
  const second = new Float32Array(rate)
  const recordingOf = (pieces: () => AsyncGenerator<Float32Array, void, undefined>) =>
    new Recording({...audioOf(randomCase(1)), [Symbol.asyncIterator]: pieces})

  it('is read while other work runs, at most 30 s of it, and once only', async () => {
    const recording = recordingOf(async function* () {
      for (let count = 0; count < 100; count++) yield second
    })
    await recording.readDuring(Promise.resolve())
    assert.equal(recording.end, rate)
    await Promise.all([recording.readDuring(new Promise(() => {})), recording.fill(5 * rate)])
    assert.equal(recording.end, 30 * rate)
    await recording.fill(31 * rate)
    assert.equal(recording.end, 31 * rate)
  })

  it('fails where it is needed, and as often as it is', async () => {
    const recording = recordingOf(async function* () {
      yield second
      throw new Error('damaged')
    })
    await recording.readDuring(new Promise(() => {}))
    await recording.fill(rate)
    for (const _ of [1, 2]) await assert.rejects(recording.fill(2 * rate), /damaged/)
  })
})
