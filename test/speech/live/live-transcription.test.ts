import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {energyVad, openAudio} from '../../../src/audio/index.js'
import {randomSource} from '../../../src/sampling/index.js'
import {openSpeechModel} from '../../../src/speech/engine/open-model.js'
import {
  AudioOverflow,
  type EndedUtterance,
  type Endpoint,
  type LiveOptions,
  LiveTranscription,
  type PartialSignal,
} from '../../../src/speech/live/live-transcription.js'
import type {RecognitionOptions, SpeechModel, WindowResult} from '../../../src/speech/model/model.js'
import {defaultTranscribeOptions} from '../../../src/speech/transcribe/options.js'
import {Recording} from '../../../src/speech/transcribe/recording.js'
import {transcribe} from '../../../src/speech/transcribe/transcribe.js'
import type {WindowMemo} from '../../../src/speech/transcribe/window-memo.js'
import {projectFile} from '../../support/project.js'
import {suiteFolder} from '../../support/temporary.js'

const rate = 16_000
const folder = suiteFolder()
let starter: SpeechModel

before(async () => {
  const options = {name: 'starter', threads: 1, device: 'cpu', precision: 'auto', derivedFolder: folder} as const
  starter = await openSpeechModel(projectFile('examples/models/starter'), options)
})
after(() => starter.release())

async function samplesOf(name: string): Promise<Float32Array> {
  const audio = await openAudio({path: projectFile(`examples/${name}`)}, {sampleRate: rate})
  const pieces: Float32Array[] = []
  for await (const piece of audio) pieces.push(piece)
  return joined(...pieces)
}

function joined(...pieces: Float32Array[]): Float32Array {
  const all = new Float32Array(pieces.reduce((sum, {length}) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}

const silence = (seconds: number) => new Float32Array(seconds * rate)

/** The offline text of samples. */
async function offline(model: SpeechModel, samples: Float32Array, memo?: WindowMemo): Promise<string> {
  const audio = {
    sampleRate: rate,
    source: {container: 'test', codec: 'test', sampleRate: rate, channels: 1},
    durationSec: undefined,
    async *[Symbol.asyncIterator]() {
      yield samples
    },
  }
  for await (const event of transcribe(model, new Recording(audio, energyVad()), {...defaultTranscribeOptions, memo}))
    if (event.type === 'done') return event.transcript.text
  return ''
}

const {conditionOnPrevious, chunkSec, chunkOverlapSec, ...recognition} = defaultTranscribeOptions

interface Seen {
  partials: PartialSignal[]
  ended: {endpoint: Endpoint; utterance: EndedUtterance<string>}[]
  failures: unknown[]
  /** Offline passes, in advance and final. */
  passes: number
}

/** A live transcription whose clock is the position in the audio. */
function start(model: SpeechModel, options: Partial<LiveOptions<string>> = {}) {
  const seen: Seen = {partials: [], ended: [], failures: [], passes: 0}
  const clock = {ms: 0}
  const live = new LiveTranscription<string>({
    model,
    detector: energyVad({live: true}),
    recognition: {...recognition, language: 'en'} as RecognitionOptions,
    hint: undefined,
    languageCode: (hint) => hint ?? 'en',
    streamPartialQuietMs: 350,
    streamMaxWaitMs: 2500,
    endpoint: {silenceMs: undefined, maxDurationMs: undefined},
    streamMaxBufferMs: 300_000,
    finish: (raw) => ({rawText: raw, refinedText: raw.trim(), confidence: 1, trace: [], nBest: undefined}),
    async transcribe(samples, _hint, memo) {
      seen.passes++
      return offline(model, samples, memo)
    },
    now: () => clock.ms,
    ...options,
  })
  void (async () => {
    for await (const signal of live)
      if (signal.type === 'partial') seen.partials.push(signal)
      else if (signal.type === 'failed') seen.failures.push(signal.error)
      else if (signal.type === 'ended') seen.ended.push(signal)
  })()
  return {
    live,
    seen,
    /** Passes samples in pieces of 100 ms, and waits for the drafts of each. */
    async speak(samples: Float32Array) {
      for (let at = 0; at < samples.length; at += rate / 10) {
        clock.ms += 100
        live.push(samples.slice(at, at + rate / 10))
        await live.settle()
        await live.drafted()
        await live.settle()
      }
    },
    async final(): Promise<string> {
      await live.commit()
      await live.settle()
      return seen.ended.at(-1)?.utterance.transcribe(new AbortController().signal) ?? ''
    },
    /** Results of the utterances. */
    results(): Promise<string[]> {
      return Promise.all(
        seen.ended.map(
          async ({endpoint, utterance}) => `${endpoint}: ${await utterance.transcribe(new AbortController().signal)}`,
        ),
      )
    },
  }
}

describe('live transcription with a model that carries its state', () => {
  it('reports growing partial results and the offline text as the final one', async () => {
    const samples = await samplesOf('memo.wav')
    const {live, seen, speak, final} = start(starter)
    await speak(samples)
    assert.equal(await final(), await offline(starter, samples.slice()))
    await live.close()
    const stable = seen.partials.map(({stableText}) => stableText)
    assert.ok(seen.partials.length >= 8, `${seen.partials.length} partial results`)
    for (const [i, text] of stable.entries())
      assert.ok(text.startsWith(stable[i - 1] ?? ''), `${stable[i - 1]} | ${text}`)
    for (const {text, stableText} of seen.partials) assert.ok(text.startsWith(stableText))
    assert.deepEqual(
      seen.partials.map(({seq}) => seq),
      seen.partials.map((_, i) => i + 1),
    )
    assert.deepEqual(seen.failures, [])
  })

  it('encodes each sample once for partial results', async () => {
    const samples = await samplesOf('memo.wav')
    const {live, speak} = start(starter)
    await speak(joined(samples, silence(0.5), samples))
    await live.close()
    assert.ok(live.draftedSec <= 1.1 * (2 * (samples.length / rate) + 0.5), `${live.draftedSec} s`)
  })

  it('computes the final pass in advance while the speaker pauses', async () => {
    const recognised: number[] = []
    const model: SpeechModel = {
      ...starter,
      recognise(samples, options) {
        recognised.push(samples.length)
        return starter.recognise(samples, options)
      },
    }
    const {live, speak, final} = start(model)
    await speak(joined(await samplesOf('hello.wav'), silence(0.5)))
    await new Promise((resolve) => setImmediate(resolve))
    const before = recognised.length
    assert.ok(before > 0)
    assert.match(await final(), /hello and welcome/)
    assert.equal(recognised.length, before, 'the final pass has nothing left to recognise')
    await live.close()
  })

  it('ends utterances after a silence, and starts the next one', async () => {
    const hello = await samplesOf('hello.wav')
    const {live, speak, results} = start(starter, {endpoint: {silenceMs: 400, maxDurationMs: 120_000}})
    await speak(joined(hello, silence(1), hello, silence(1)))
    await live.commit()
    await live.settle()
    await live.close()
    const heard = 'silence: hello and welcome to your own machine'
    assert.deepEqual(await results(), [heard, heard, 'commit: '], 'nothing is left')
  })

  it('ends utterances at the maximum duration', async () => {
    const {live, speak, results} = start(starter, {endpoint: {silenceMs: 400, maxDurationMs: 2000}})
    await speak(await samplesOf('memo.wav'))
    await live.commit()
    await live.settle()
    await live.close()
    const ended = await results()
    assert.ok(
      ended.some((text) => text.startsWith('duration: the server')),
      ended.join(),
    )
  })

  it('keeps little of a long silence between utterances', async () => {
    const {live, seen, speak, final} = start(starter, {
      endpoint: {silenceMs: 400, maxDurationMs: undefined},
      streamMaxBufferMs: 5000,
    })
    await speak(silence(20))
    await speak(await samplesOf('hello.wav'))
    assert.match(await final(), /hello and welcome/)
    await live.close()
    assert.deepEqual(seen.failures, [])
  })

  it('fails if more audio arrives than is kept', async () => {
    const {live, seen, speak} = start(starter, {streamMaxBufferMs: 1000})
    await speak(silence(1.5))
    await live.close()
    assert.ok(seen.failures[0] instanceof AudioOverflow)
  })

  it('ends, and has each sample in one utterance, however the audio arrives and is cut', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = randomSource(seed)
      const heard: Float32Array[] = []
      const {live, seen, results} = start(windowModel('window').model, {
        detector: undefined,
        endpoint: {silenceMs: undefined, maxDurationMs: 1 + 500 * random()},
        async transcribe(samples) {
          heard.push(samples)
          return ''
        },
      })
      const audio = Float32Array.from({length: Math.floor(20_000 * random())}, random)
      for (let at = 0; at < audio.length; ) {
        const length = Math.floor(2000 * random() ** 3)
        live.push(audio.slice(at, at + length))
        at += length
        if (random() < 0.2) await live.commit()
      }
      await live.commit()
      await live.settle()
      await results()
      await live.close()
      assert.deepEqual([joined(...heard), seen.failures], [audio, []], `seed ${seed}`)
    }
  })

  it('commits without audio', async () => {
    const {live, seen, final} = start(starter)
    assert.equal(await final(), '')
    await live.close()
    assert.deepEqual(seen.failures, [])
  })

  it('recognises speech without a detector', async () => {
    const {live, seen, speak, final} = start(starter, {detector: undefined})
    await speak(await samplesOf('hello.wav'))
    assert.match(await final(), /hello and welcome/)
    await live.close()
    assert.ok(seen.partials.length > 3)
  })

  it('reports no partial result after the commit', async () => {
    const {live, seen, speak} = start(starter)
    await speak((await samplesOf('memo.wav')).slice(0, 3 * rate))
    live.push(silence(0.3))
    await live.commit()
    const count = seen.partials.length
    await live.drafted()
    await live.close()
    assert.equal(seen.partials.length, count)
  })
})

/** A model with windows that hears one word per second of its window, and asks for drafts. */
function windowModel(drafts: 'window' | 'full') {
  const windows: {seconds: number; draft: boolean}[] = []
  const model: SpeechModel = {
    description: {...starter.description, family: 'whisper', timestamps: true, drafts, windowSec: 30},
    async recognise(samples, options): Promise<WindowResult> {
      const seconds = samples.length / rate
      windows.push({seconds, draft: options.draft ?? false})
      const segments = Array.from({length: Math.floor(seconds)}, (_, i) => ({
        startSec: i,
        endSec: i + 1,
        text: ` word${i}`,
        tokens: [i],
        temperature: 0,
        avgLogprob: -0.1,
        compressionRatio: 1,
        noSpeechProb: 0,
      }))
      return {
        segments,
        consumedSec: seconds,
        language: 'en',
        languageProbability: 1,
        noSpeech: false,
        temperature: 0,
        alternatives: [],
        warnings: [],
        timings: {featuresMs: 0, encodeMs: 0, decodeMs: 0, wholeHeads: 0},
      }
    },
    detectLanguage: async () => [{language: 'en', probability: 1}],
    release: async () => undefined,
  }
  return {model, windows}
}

describe('live transcription with a model that encodes windows', () => {
  it('encodes at most four times the length of the audio for partial results', async () => {
    const {model} = windowModel('window')
    const {live, seen, speak} = start(model, {detector: undefined})
    await speak(silence(60))
    await live.close()
    assert.ok(live.draftedSec <= 4 * 60, `${live.draftedSec} s`)
    assert.ok(seen.partials.length > 10, `${seen.partials.length} partial results`)
  })

  it('drafts a window only after new audio of a quarter of its length', async () => {
    const {model, windows} = windowModel('window')
    const {live, speak} = start(model, {detector: undefined})
    await speak(silence(12))
    await live.close()
    const lengths = windows.filter(({draft}) => draft).map(({seconds}) => seconds)
    for (const [i, length] of lengths.entries()) {
      const fresh = length - (lengths[i - 1] ?? 0)
      assert.ok(fresh >= Math.max(0.3, 0.25 * (length + 2.56)) - 0.11, `${fresh} s of ${length} s`)
    }
  })

  it('cuts a long window after stable segments, and keeps their text', async () => {
    const {model, windows} = windowModel('window')
    const {live, seen, speak} = start(model, {detector: undefined})
    await speak(silence(60))
    await live.close()
    const longest = Math.max(...windows.filter(({draft}) => draft).map(({seconds}) => seconds))
    assert.ok(longest <= 30, `${longest} s`)
    assert.ok((seen.partials.at(-1)?.text.split(' ').length ?? 0) > 30, seen.partials.at(-1)?.text)
  })

  it('drafts rarely if every window must be complete', async () => {
    const {model, windows} = windowModel('full')
    const {live, speak} = start(model, {detector: undefined})
    await speak(silence(30))
    await live.close()
    assert.ok(windows.filter(({draft}) => draft).length <= 4)
  })

  it('ignores a draft that repeats itself', async () => {
    const {model} = windowModel('window')
    const repeating: SpeechModel = {
      ...model,
      async recognise(samples, options) {
        const result = await model.recognise(samples, options)
        return {...result, segments: result.segments.map((segment) => ({...segment, compressionRatio: 9}))}
      },
    }
    const {live, seen, speak} = start(repeating, {detector: undefined})
    await speak(silence(5))
    await live.close()
    assert.deepEqual(seen.partials, [])
  })
})
