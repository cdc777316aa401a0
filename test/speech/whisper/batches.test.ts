import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {type AudioStream, energyVad} from '../../../src/audio/index.js'
import {defaultTranscribeOptions, transcribe} from '../../../src/speech/index.js'
import type {RecognitionOptions, SpeechModel, WindowResult} from '../../../src/speech/model/model.js'
import {mergeChannels} from '../../../src/speech/transcribe/merge-channels.js'
import type {TranscribeEvent, WindowResults} from '../../../src/speech/transcribe/options.js'
import {Recording} from '../../../src/speech/transcribe/recording.js'
import {openWhisper, suitableBatch} from '../../../src/speech/whisper/open-whisper.js'
import {microClips, microData, writeMicroWhisper} from '../../support/micro-whisper.js'
import {skipWithout} from '../../support/project.js'
import {randomFloats} from '../../support/random-floats.js'
import {readClip} from '../../support/sounds.js'
import {temporaryFolder} from '../../support/temporary.js'
import {writeWideWhisper} from '../../support/wide-whisper.js'

async function open(test: TestContext, write: (folder: string) => Promise<void>, precision: 'f32' | 'int8') {
  const folder = await temporaryFolder(test)
  await write(join(folder, 'model'))
  const options = {name: 'model', threads: 1, device: 'cpu', derivedFolder: join(folder, 'derived')} as const
  const model = await openWhisper(join(folder, 'model'), {...options, precision})
  test.after(() => model.release())
  return model
}

const together = (model: SpeechModel, windows: readonly Float32Array[], options: RecognitionOptions) =>
  model.recogniseAll?.(windows, options) ?? Promise.reject(new Error('The model recognises one window at a time.'))

/** Compares results without their times; log-probabilities may differ by rounding. */
function assertSame(actual: readonly WindowResult[], expected: readonly WindowResult[]): void {
  const plain = ({segments, consumedSec, noSpeech, temperature}: WindowResult) => ({
    segments: segments.map(({startSec, endSec, text, tokens}) => ({startSec, endSec, text, tokens})),
    consumedSec,
    noSpeech,
    temperature,
  })
  assert.deepEqual(actual.map(plain), expected.map(plain))
  for (const [i, {segments}] of actual.entries())
    for (const [at, {avgLogprob}] of segments.entries())
      assert.ok(Math.abs(avgLogprob - expected[i]!.segments[at]!.avgLogprob) < 5e-3)
}

/** Bursts of noise with pauses; each differs from the others. */
function bursts(seconds: number): Float32Array {
  const noise = randomFloats(9)(seconds * 16_000)
  return noise.map((x, i) => (i % 24_000 < 16_000 ? (0.05 + 0.2 * ((i / 24_000) % 1)) * x : 0))
}

const audioOf = (samples: Float32Array): AudioStream => ({
  sampleRate: 16_000,
  source: {container: 'test', codec: 'pcm_f32le', sampleRate: 16_000, channels: 1},
  durationSec: samples.length / 16_000,
  async *[Symbol.asyncIterator]() {
    for (let at = 0; at < samples.length; at += 16_000) yield samples.slice(at, at + 16_000)
  },
})

describe('windows that are recognised together', () => {
  for (const precision of ['f32', 'int8'] as const) {
    it(`have the words of each clip in ${precision}`, {skip: skipWithout(microData)}, async (test) => {
      const model = await open(test, writeMicroWhisper, precision)
      const clips = await microClips()
      const sounds = await Promise.all(clips.map(({path}) => readClip(path)))
      const options = {...defaultTranscribeOptions, language: 'en'}
      const alone: WindowResult[] = []
      for (const sound of sounds) alone.push(await model.recognise(sound, options))
      for (const count of [7, sounds.length]) {
        const results: WindowResult[] = []
        for (let at = 0; at < sounds.length; at += count)
          results.push(...(await together(model, sounds.slice(at, at + count), options)))
        assertSame(results, alone)
      }
    })

    it(`have the results of single windows in ${precision}, also at higher temperatures`, async (test) => {
      const model = await open(test, (folder) => writeWideWhisper(folder, 'F16'), precision)
      const noise = bursts(15)
      const windows = Array.from({length: 5}, (_, i) => noise.slice(48_000 * i, 48_000 * i + 20_000 + 1500 * i))
      const thresholds = [-Infinity, -6, 0].map((logprobThreshold) => ({
        logprobThreshold,
        noSpeechThreshold: 1,
        compressionRatioThreshold: Infinity,
      }))
      const seen = new Set<number>()
      for (const threshold of thresholds) {
        const options = {...defaultTranscribeOptions, ...threshold, temperatures: [0, 0.4], language: 'en'}
        const alone: WindowResult[] = []
        for (const window of windows) alone.push(await model.recognise(window, options))
        assertSame(await together(model, windows, options), alone)
        for (const {temperature} of alone) seen.add(temperature)
      }
      assert.deepEqual([...seen].sort(), [0, 0.4])
    })
  }

  it('give the transcript of a recording that is read chunk by chunk', async (test) => {
    const model = await open(test, (folder) => writeWideWhisper(folder, 'F16'), 'int8')
    const results = new Map<string, Promise<WindowResult>>()
    const memo: WindowResults = {
      has: (...window) => results.has(JSON.stringify(window)),
      recognise(position, recognition, recognise) {
        const key = JSON.stringify([position, recognition])
        const result = results.get(key) ?? recognise()
        results.set(key, result)
        return result
      },
    }
    const read = async (batch: number, known?: WindowResults) => {
      let calls = 0
      const counted: SpeechModel = {
        ...model,
        recogniseAll: (windows, ...rest) => {
          calls += windows.length
          return model.recogniseAll!(windows, ...rest)
        },
      }
      const options = {
        ...defaultTranscribeOptions,
        noSpeechThreshold: 1,
        chunkSec: 2,
        batch,
        temperatures: [0],
        memo: known,
      }
      const detector = energyVad({threshold: 0.003, mergeGapMs: 100})
      for await (const event of transcribe(counted, new Recording(audioOf(bursts(20)), detector), options))
        if (event.type === 'done') return {segments: event.transcript.segments, calls}
      throw new Error('The transcription has no end.')
    }
    const [one, four] = [await read(1), await read(4, memo)]
    const again = await read(4, memo)
    const texts = (all: typeof one) => all.segments.map(({text, startSec, endSec}) => ({text, startSec, endSec}))
    assert.deepEqual(texts(four), texts(one))
    assert.deepEqual([texts(again), again.calls], [texts(one), 0])
    assert.ok(
      one.calls === 0 && four.calls > 8 && one.segments.length > 1,
      JSON.stringify([four.calls, one.segments.length]),
    )
  })

  it('are those of one channel of a recording whose channels are transcribed separately', async (test) => {
    const model = await open(test, (folder) => writeWideWhisper(folder, 'F16'), 'int8')
    const noise = bursts(24)
    const sounds = {left: noise.slice(0, 256_000), right: noise.slice(128_000)}
    const events = (samples: Float32Array) => {
      const options = {...defaultTranscribeOptions, noSpeechThreshold: 1, chunkSec: 2, batch: 4, temperatures: [0]}
      return transcribe(model, new Recording(audioOf(samples), energyVad({threshold: 0.003, mergeGapMs: 100})), options)
    }
    const segmentsOf = async (stream: AsyncIterable<TranscribeEvent>) => {
      for await (const event of stream)
        if (event.type === 'done')
          return event.transcript.segments.map(({text, startSec, speaker}) => ({text, startSec, speaker}))
      throw new Error('The transcription has no end.')
    }
    const channels = Object.entries(sounds).map(([speaker, samples]) => ({speaker, events: events(samples)}))
    const merged = await segmentsOf(mergeChannels(channels))
    for (const [speaker, samples] of Object.entries(sounds)) {
      const alone = await segmentsOf(events(samples))
      assert.ok(alone.length > 1)
      assert.deepEqual(
        merged.filter((segment) => segment.speaker === speaker),
        alone.map((segment) => ({...segment, speaker})),
      )
    }
  })

  it('are four per core with --batch 0, as far as the memory suffices', () => {
    const gigabytes = 2 ** 30
    assert.equal(suitableBatch(10_000_000, {cores: 1, memory: 8 * gigabytes}), 4)
    assert.equal(suitableBatch(10_000_000, {cores: 8, memory: 8 * gigabytes}), 16)
    assert.equal(suitableBatch(gigabytes / 4, {cores: 8, memory: 8 * gigabytes}), 4)
    assert.equal(suitableBatch(gigabytes, {cores: 8, memory: gigabytes}), 2)
  })
})
