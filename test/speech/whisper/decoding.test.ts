import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {TokenLogits} from '../../../src/sampling/index.js'
import {defaultTranscribeOptions} from '../../../src/speech/index.js'
import {compressionRatio, decodeWindow, textOf} from '../../../src/speech/whisper/decode-window.js'
import {tokenizerOfTokens} from '../../../src/speech/whisper/ggml-tokenizer.js'
import type {AudioContext, DecoderRun} from '../../../src/speech/whisper/network.js'
import {buildPrompt} from '../../../src/speech/whisper/prompt.js'
import {cutAtTimestamps} from '../../../src/speech/whisper/timed-segments.js'
import {tokenRules} from '../../../src/speech/whisper/token-rules.js'
import {readVocabulary, type WhisperVocabulary} from '../../../src/speech/whisper/vocabulary.js'
import {createTokenizer} from '../../../src/text/index.js'
import {sharedData, skipWithout} from '../../support/project.js'

/** A multilingual vocabulary with ten words of text: the special tokens are those of the published models. */
function smallVocabulary(): WhisperVocabulary {
  const words = [' ', ' one', ' two', ' three', ' (', ' four', ' five', ' six', ' seven', ' eight']
  const specials = ['endoftext', 'startoftranscript', 'en', 'de', 'translate', 'transcribe', 'startoflm', 'startofprev']
  const rest = ['nospeech', 'notimestamps', ...Array.from({length: 101}, (_, i) => (i * 0.02).toFixed(2))]
  const tokens = [...words, ...[...specials, ...rest].map((name) => `<|${name}|>`)]
  const size = tokens.length
  const tokenizer = createTokenizer(
    tokenizerOfTokens(
      tokens.map((token) => Buffer.from(token)),
      size,
    ) as Record<string, unknown>,
    {},
    'tokenizer.json',
  )
  return readVocabulary({tokenizer, file: 'tokenizer.json', size, config: {}, generationConfig: {}})
}

const vocabulary = smallVocabulary()
const {endOfText, startOfTranscript, noSpeech = -1, firstTimestamp = -1, lastTimestamp = -1} = vocabulary
const at = (seconds: number) => firstTimestamp + Math.round(seconds / 0.02)

describe('the vocabulary', () => {
  it('finds the special tokens by name', () => {
    assert.deepEqual([...vocabulary.languages.keys()], ['en', 'de'])
    assert.equal(vocabulary.tokenizer.decode([1, 2]), ' one two')
    assert.equal(lastTimestamp - firstTimestamp, 100)
    assert.ok(vocabulary.suppressed.includes(4), 'a bracket is not said')
    assert.ok(vocabulary.suppressedAtBegin.includes(0) && vocabulary.suppressedAtBegin.includes(endOfText))
  })

  it('has the published ids', {skip: skipWithout('whisper-assets/tokenizer.json')}, async () => {
    const json = JSON.parse(await readFile(sharedData('whisper-assets/tokenizer.json') ?? '', 'utf8'))
    const tokenizer = createTokenizer(json, {}, 'tokenizer.json')
    const read = readVocabulary({tokenizer, file: 'tokenizer.json', size: 51_865, config: {}, generationConfig: {}})
    assert.deepEqual(
      [read.endOfText, read.startOfTranscript, read.translate, read.transcribe, read.startOfPrevious, read.noSpeech],
      [50_257, 50_258, 50_358, 50_359, 50_361, 50_362],
    )
    assert.deepEqual([read.noTimestamps, read.firstTimestamp, read.lastTimestamp], [50_363, 50_364, 51_864])
    assert.deepEqual([read.languages.size, read.languages.get('en'), read.languages.get('su')], [99, 50_259, 50_357])
  })
})

describe('the prompt of the decoder', () => {
  const limits = {timestamps: true, context: 20}
  const english = {language: 'en', task: 'transcribe'} as const
  const nothing = {hotwords: []}

  it('consists of start, language and task', () => {
    const id = (name: string) => vocabulary.tokenizer.id(`<|${name}|>`)
    assert.deepEqual(buildPrompt(vocabulary, english, nothing, limits).tokens, [
      startOfTranscript,
      id('en'),
      id('transcribe'),
    ])
    const german = buildPrompt(vocabulary, {language: 'de', task: 'translate'}, nothing, {...limits, timestamps: false})
    assert.deepEqual(german.tokens, [startOfTranscript, id('de'), id('translate'), id('notimestamps')])
  })

  it('starts with the previous text, limited to half of the context', () => {
    const previous = buildPrompt(vocabulary, english, {hotwords: [], previousTokens: [1, 2, 3]}, limits)
    assert.deepEqual(previous.tokens.slice(0, 4), [vocabulary.startOfPrevious, 1, 2, 3])
    assert.equal(previous.startIndex, 4)
    const long = buildPrompt(vocabulary, english, {hotwords: [], previousTokens: Array(50).fill(5)}, limits)
    assert.equal(long.startIndex, 10)
  })
})

describe('token rules', () => {
  const [begin, ...rest] = [tokenRules(vocabulary, {timestamps: true})]
  const allowed = (decoded: readonly number[], logits = new Float32Array(vocabulary.size)) => {
    const known = TokenLogits.of(logits)
    for (const rule of [...(begin ?? []), ...rest.flat()]) rule(known, decoded)
    return [...logits.keys()].filter((token) => logits[token] !== -Infinity)
  }
  /** Text is far likelier than all timestamps together. */
  const texty = () => new Float32Array(vocabulary.size).map((_, token) => (token < firstTimestamp ? 50 : 0))

  it('require a timestamp in the first second at the start of a window', () => {
    assert.deepEqual(
      allowed([]),
      Array.from({length: 51}, (_, i) => firstTimestamp + i),
    )
  })

  it('require text after the timestamp that starts a segment', () => {
    const next = allowed([at(0)], texty())
    assert.ok(next.includes(1) && !next.some((token) => token >= firstTimestamp))
  })

  it('require a second timestamp or the end after the timestamp that ends a segment', () => {
    const next = allowed([at(0), 1, at(0.5)])
    assert.ok(next.every((token) => token >= at(0.5) || token === endOfText))
    assert.ok(next.includes(at(0.5)))
  })

  it('require increasing timestamps and segments with a duration', () => {
    const next = allowed([at(0.4), 1], texty())
    assert.ok(next.includes(at(0.42)) && !next.includes(at(0.4)) && !next.includes(at(0.2)))
  })

  it('require a timestamp if all of them together are more likely than any text', () => {
    const next = allowed(
      [at(0), 1],
      new Float32Array(vocabulary.size).map((_, token) => (token === 2 ? 3 : 0)),
    )
    assert.ok(next.every((token) => token >= firstTimestamp))
  })

  it('exclude special tokens and non-speech symbols', () => {
    const next = allowed([at(0)], texty())
    for (const token of [startOfTranscript, noSpeech, 4]) assert.ok(!next.includes(token))
  })
})

describe('a window with timestamps', () => {
  it('ends a segment at each pair, and decodes the rest in the next window', () => {
    const tokens = [at(0), 1, at(0.5), at(0.5), 2, at(1.2), at(1.2), 3]
    const {segments, consumedSec} = cutAtTimestamps(vocabulary, tokens, 2)
    assert.deepEqual(segments, [
      {startSec: 0, endSec: 0.5, tokens: [1]},
      {startSec: 0.5, endSec: 1.2, tokens: [2]},
    ])
    assert.equal(consumedSec, 1.2)
  })

  it('is complete if a single timestamp ends it', () => {
    const {segments, consumedSec} = cutAtTimestamps(vocabulary, [at(0), 1, at(0.5), at(0.6), 2, at(1)], 2)
    assert.deepEqual(
      segments.map(({startSec, endSec}) => [startSec, endSec]),
      [
        [0, 0.5],
        [0.6, 1],
      ],
    )
    assert.equal(consumedSec, 2)
  })

  it('without pairs is one segment', () => {
    const {segments, consumedSec} = cutAtTimestamps(vocabulary, [at(0.2), 1, 2, at(1.5)], 2)
    assert.deepEqual(segments, [{startSec: 0.2, endSec: 1.5, tokens: [1, 2]}])
    assert.equal(consumedSec, 2)
  })

  it('has no segment without text or length', () => {
    assert.deepEqual(cutAtTimestamps(vocabulary, [at(0), at(0.5)], 2).segments, [])
  })
})

/** A network that writes what a plan says, and counts how often it is asked to begin. */
function planned(
  plan: (attempt: number) => {text: number[]; certainty: number; other?: {text: number[]; certainty: number}},
  noSpeechLogit = 0,
): AudioContext & {attempts: number} {
  const context = {
    attempts: 0,
    positions: 100,
    decode(): DecoderRun {
      const {text, certainty, other} = plan(context.attempts++)
      let [rows, step] = [1, 0]
      const logits = () => {
        const one = new Float32Array(vocabulary.size)
        if (other !== undefined) one[other.text[step] ?? endOfText] = other.certainty
        one[text[step] ?? endOfText] = certainty
        return one
      }
      return {
        get rows() {
          return rows
        },
        get length() {
          return step
        },
        wholeHeads: 0,
        async prefill(_, wanted) {
          return wanted.map((_position, i) => {
            const one = logits()
            if (i === 0) one[noSpeech] = noSpeechLogit
            return TokenLogits.of(one)
          })
        },
        async step() {
          step++
          return Array.from({length: rows}, () => TokenLogits.of(logits()))
        },
        select(sources) {
          rows = sources.length
        },
      }
    },
  }
  return context
}

describe('the decoding of a window', () => {
  const options = {...defaultTranscribeOptions, bestOf: 2}
  const limits = {timestamps: false, context: 200, signal: undefined}
  const prompt = buildPrompt(vocabulary, {language: 'en', task: 'transcribe'}, {hotwords: []}, limits)
  const decode = (context: AudioContext, changes: object = {}) =>
    decodeWindow(context, vocabulary, prompt, {...options, ...changes}, limits)

  it('is greedy if the result is accepted', async () => {
    const context = planned(() => ({text: [1, 2, 3], certainty: 20}))
    const {tokens, temperature, avgLogprob} = await decode(context)
    assert.deepEqual([tokens, temperature, context.attempts], [[1, 2, 3], 0, 1])
    assert.ok(avgLogprob > -0.01)
  })

  it('is repeated at a higher temperature if the text is repetitive', async () => {
    const context = planned((attempt) => ({text: attempt < 2 ? Array(60).fill(1) : [2, 3], certainty: 30}))
    const {tokens, temperature} = await decode(context)
    assert.deepEqual([tokens, temperature], [[2, 3], 0.4])
  })

  it('is repeated up to the last temperature if the text is unlikely', async () => {
    const context = planned(() => ({text: [1, 2], certainty: 1}))
    const {temperature} = await decode(context)
    assert.equal(temperature, 1)
    assert.equal(context.attempts, 6)
  })

  it('is silence if the model detects no speech and the text is unlikely', async () => {
    const quiet = await decode(planned(() => ({text: [1], certainty: 1}), 9))
    assert.deepEqual([quiet.noSpeech, quiet.temperature], [true, 0])
    assert.ok(quiet.noSpeechProb > 0.6)
    assert.equal((await decode(planned(() => ({text: [1], certainty: 30}), 30.5))).noSpeech, false)
  })

  it('returns the same result for the same seed, and several hypotheses for a beam', async () => {
    const vague = () => planned(() => ({text: [1, 2, 3], certainty: 3}))
    const warm = {temperatures: [0.8], seed: 5, logprobThreshold: -99}
    assert.deepEqual((await decode(vague(), warm)).tokens, (await decode(vague(), warm)).tokens)
    const {hypotheses, tokens} = await decode(vague(), {beamSize: 3, logprobThreshold: -99})
    assert.deepEqual(tokens, [1, 2, 3])
    assert.equal(hypotheses.length, 3)
  })

  it('prefers words only among hypotheses of similar probability', async () => {
    const preferred = [textOf(vocabulary, [2])]
    const read = (certainty: number) =>
      decode(
        planned(() => ({text: [1], certainty: 20, other: {text: [2], certainty}})),
        {beamSize: 3, preferred: {phrases: preferred, strength: 0.8}},
      )
    const [near, far] = [await read(18), await read(16)]
    assert.deepEqual([near.tokens, near.text], [[2], preferred[0]])
    assert.deepEqual(far.tokens, [1])
    assert.deepEqual(far.hypotheses[0]?.tokens, [1])
  })

  it('stops when aborted', async () => {
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    const context = planned(() => ({text: [1, 2, 3], certainty: 20}))
    await assert.rejects(decodeWindow(context, vocabulary, prompt, options, {...limits, signal: stop.signal}), /enough/)
  })

  it('stops between two tokens when aborted while it decodes', async () => {
    const stop = new AbortController()
    const context = planned(() => ({text: [1, 2, 3, 5, 6, 7], certainty: 20}))
    const lengths: number[] = []
    const decodeBefore = context.decode
    context.decode = (...args) => {
      const run = decodeBefore.apply(context, args)
      const step = run.step.bind(run)
      run.step = async (...tokens) => {
        lengths.push(run.length)
        if (lengths.length === 2) setImmediate(() => stop.abort(new Error('enough')))
        return step(...tokens)
      }
      return run
    }
    await assert.rejects(decodeWindow(context, vocabulary, prompt, options, {...limits, signal: stop.signal}), /enough/)
    assert.equal(lengths.length, 2)
  })
})

describe('the compression ratio', () => {
  it('is high for repetitive text', () => {
    assert.ok(compressionRatio('thank you '.repeat(30)) > 2.4)
    assert.ok(compressionRatio('The quick brown fox jumps over the lazy dog.') < 1.2)
    assert.equal(compressionRatio(''), 0)
  })
})
