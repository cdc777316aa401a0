import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {defaultTranscribeOptions, type Segment, transcribe, type WindowResult} from '../../../src/speech/index.js'
import type {SpeechModel} from '../../../src/speech/model/model.js'
import {type WindowPlace, withoutHallucinations} from '../../../src/speech/transcribe/hallucinations.js'
import {Recording} from '../../../src/speech/transcribe/recording.js'

/** A segment of words that follow each other. */
function segment(startSec: number, wordSec: number, probabilities: readonly number[], mark = ' w'): Segment {
  const words = probabilities.map((probability, i) => ({
    word: `${mark}${i}`,
    startSec: startSec + i * wordSec,
    endSec: startSec + (i + 1) * wordSec,
    probability,
  }))
  const text = words.map(({word}) => word).join('')
  const endSec = startSec + wordSec * words.length
  const rest = {tokens: [1], temperature: 0, avgLogprob: -0.1, compressionRatio: 1, noSpeechProb: 0}
  return {startSec, endSec, text, words, ...rest}
}

const likely = (startSec: number) => segment(startSec, 0.3, [0.9, 0.9, 0.9])
const unlikely = (startSec: number) => segment(startSec, 0.3, [0.1, 0.1, 0.1], ' x')

const resultOf = (segments: Segment[], consumedSec: number): WindowResult => ({
  segments,
  consumedSec,
  language: 'en',
  languageProbability: 1,
  noSpeech: false,
  temperature: 0,
  alternatives: [],
  warnings: [],
  timings: {featuresMs: 0, encodeMs: 0, decodeMs: 0, wholeHeads: 0},
})

/** The window from 60 to 90 s of a recording of 10 minutes. */
const middle: WindowPlace = {
  recordingStartSec: -60,
  recordingEndSec: 540,
  lastWordSec: -0.5,
  audioSec: 30,
  windowSec: 30,
}

/** The starts of the kept segments, and the start of the next window, with a threshold of 2 s. */
function kept(segments: Segment[], change: Partial<WindowPlace> = {}, consumedSec = 30) {
  const result = withoutHallucinations(resultOf(segments, consumedSec), {...middle, ...change}, 2)
  return [result.segments.map(({startSec}) => startSec), result.consumedSec]
}

describe('hallucination_silence_threshold, with the rules of openai-whisper', () => {
  it('keeps likely text, however long the silences are', () => {
    assert.deepEqual(kept([likely(5), likely(20)]), [[5, 20], 30])
  })

  it('skips the silence before a window that begins with a possible hallucination', () => {
    assert.deepEqual(kept([unlikely(8), likely(20)]), [[], 8])
  })

  it('drops a possible hallucination between two silences, and all that follows in the window', () => {
    assert.deepEqual(kept([likely(1), unlikely(10), likely(20)]), [[1], 10])
    assert.deepEqual(kept([likely(1), unlikely(10), unlikely(11), likely(12)]), [[1], 10])
  })

  it('keeps it without silence on both sides', () => {
    assert.deepEqual(kept([likely(9), unlikely(10), likely(20)]), [[9, 10, 20], 30])
    assert.deepEqual(kept([likely(1), unlikely(10), likely(11)]), [[1, 10, 11], 30])
  })

  it('counts the edges of the window as silence, and advances by at least a second', () => {
    assert.deepEqual(kept([unlikely(0.5), likely(20)]), [[], 1])
    assert.deepEqual(kept([likely(20), unlikely(28.5)]), [[20], 28.5])
  })

  it('ends with a dropped text close to the end of the recording', () => {
    assert.deepEqual(kept([likely(20), unlikely(28.5)], {recordingEndSec: 30}), [[20], 30])
  })

  it('continues after the last word if the rest of the window is silent', () => {
    assert.deepEqual(kept([likely(1)], {}, 1.2), [[1], likely(1).endSec])
    assert.deepEqual(kept([likely(28)], {}, 28.2), [[28], 30])
  })

  const scores: Record<string, [Segment, boolean]> = {
    'words below a probability of 0.15': [segment(10, 0.3, [0.14, 0.14]), true],
    'words at a probability of 0.15': [segment(10, 0.3, [0.15, 0.15]), false],
    'words far shorter than 0.133 s': [segment(10, 0.06, [0.9, 0.9]), true],
    'words slightly shorter than 0.133 s': [segment(10, 0.12, [0.9, 0.9]), false],
    'words longer than 2 s': [segment(10, 3.1, [0.9]), true],
    'three unlikely words of many': [segment(10, 0.3, [0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.9]), true],
    'unlikely words after the first eight': [segment(10, 0.3, [...Array(8).fill(0.9), 0.1, 0.1, 0.1]), false],
  }
  for (const [what, [one, isDropped]] of Object.entries(scores))
    it(`${isDropped ? 'drops' : 'keeps'} a segment with ${what}`, () => {
      assert.deepEqual(kept([likely(1), one])[0], isDropped ? [1] : [1, 10])
    })

  it('reads the recording again from there, and does not use the dropped text as a prompt', async () => {
    const starts: number[] = []
    const prompts: (readonly number[] | undefined)[] = []
    const rate = 16_000
    const model: SpeechModel = {
      description: {
        family: 'whisper',
        name: 'test',
        path: '/test',
        precision: 'f32',
        device: 'cpu',
        windowSec: 30,
        timestamps: true,
        wordTimings: true,
        languages: ['en'],
        translates: false,
        batch: 0,
        instances: 1,
        drafts: 'window',
      },
      async recognise(samples, {previousTokens}) {
        const fromSec = Math.round(samples[0]! * 1e8) / rate
        starts.push(fromSec)
        prompts.push(previousTokens)
        return resultOf(fromSec === 0 ? [likely(1), unlikely(10)] : [likely(20)], samples.length / rate)
      },
      detectLanguage: () => assert.fail(),
      release: async () => undefined,
    }
    const audio = {
      sampleRate: rate,
      source: {container: 'test', codec: 'test', sampleRate: rate, channels: 1},
      durationSec: 40,
      async *[Symbol.asyncIterator]() {
        yield Float32Array.from({length: 40 * rate}, (_, i) => i / 1e8)
      },
    }
    const options = {...defaultTranscribeOptions, hallucinationSilenceSec: 2}
    for await (const event of transcribe(model, new Recording(audio), options))
      if (event.type === 'done')
        assert.deepEqual(
          event.transcript.segments.map(({startSec}) => startSec),
          [1, 30],
        )
    assert.deepEqual(starts, [0, 10])
    assert.deepEqual(prompts, [[], [1]])
  })
})
