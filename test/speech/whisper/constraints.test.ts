import assert from 'node:assert/strict'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {logMel} from '../../../src/audio/index.js'
import {TokenLogits} from '../../../src/sampling/index.js'
import {constraintCompiler} from '../../../src/speech/constraints/compile.js'
import {defaultTranscribeOptions} from '../../../src/speech/index.js'
import type {DecodingConstraints} from '../../../src/speech/model/model.js'
import {decodeWindow} from '../../../src/speech/whisper/decode-window.js'
import {openGraphNetwork} from '../../../src/speech/whisper/graph-network.js'
import type {AudioContext, WhisperNetwork} from '../../../src/speech/whisper/network.js'
import {readWhisperFolder, type WhisperFolder} from '../../../src/speech/whisper/open-whisper.js'
import {buildPrompt} from '../../../src/speech/whisper/prompt.js'
import {whisperText} from '../../../src/speech/whisper/text-vocabulary.js'
import {readShards} from '../../../src/weights/index.js'
import {constraintsOf} from '../../support/constraints.js'
import {digits, encodingTokenizer} from '../../support/micro-whisper.js'
import {seeded} from '../../support/random.js'
import {randomFloats} from '../../support/random-floats.js'
import {suiteFolder} from '../../support/temporary.js'
import {allLogits} from '../../support/token-logits.js'
import {writeWhisperFolder} from '../../support/whisper-files.js'
import {microShape, randomWhisper} from '../../support/whisper-weights.js'

const folder = join(suiteFolder(), 'model')
let network: WhisperNetwork
let audio: AudioContext
let parts: WhisperFolder

before(async () => {
  await writeWhisperFolder(folder, microShape, randomWhisper(microShape, 3), 'F32', encodingTokenizer)
  parts = await readWhisperFolder(folder)
  network = await openGraphNetwork(parts.config, await readShards(folder), {
    threads: 1,
    device: 'cpu',
    alignmentHeads: [[1, 0]],
    textTokens: parts.vocabulary.endOfText,
  })
  const frames = 2 * microShape.audio
  const noise = randomFloats(7)(24_000).map((x) => 0.1 * x)
  audio = await network.encode(logMel(noise, {bins: microShape.bins, frames}), frames)
})
after(() => network.release())

interface Decoding {
  beamSize?: number
  temperatures?: number[]
}

/** Decodes noise with constraints; nothing is repeated because of its probability. */
async function decode(changes: Partial<DecodingConstraints>, decoding: Decoding = {}) {
  const {vocabulary, config} = parts
  const compiled = constraintCompiler(whisperText(vocabulary))(constraintsOf(changes))
  const limits = {timestamps: false, context: config.textPositions}
  const prompt = buildPrompt(vocabulary, {language: 'en', task: 'transcribe'}, {hotwords: []}, limits)
  const options = {
    ...defaultTranscribeOptions,
    temperatures: [0],
    bestOf: 1,
    logprobThreshold: -Infinity,
    noSpeechThreshold: 1,
    compressionRatioThreshold: Infinity,
    ...decoding,
  }
  const decoded = await decodeWindow(audio, vocabulary, prompt, options, {...limits, constraints: compiled})
  return {...decoded, warnings: compiled?.warnings.map(({code}) => code) ?? []}
}

/** True if the text consists of the phrases. */
const isSequenceOf = (phrases: readonly string[], text: string) =>
  new RegExp(`^ *((${phrases.join('|')})([ ,.]+|$))*$`, 'i').test(text)

describe('a Whisper window', () => {
  it('contains no forbidden token', async () => {
    const free = await decode({})
    const forbidden = [...new Set(free.tokens)]
    assert.ok(forbidden.length > 0)
    const {tokens} = await decode({forbidden})
    assert.ok(tokens.length > 0 && tokens.every((token) => !forbidden.includes(token)))
  })

  it('ends even if the end of the text is forbidden, and if all words are', async () => {
    const {vocabulary} = parts
    const ending = await decode({forbidden: [vocabulary.endOfText]})
    assert.deepEqual(ending.tokens, (await decode({})).tokens)
    assert.deepEqual(ending.warnings, ['forbidden_token_ignored'])
    for (const beamSize of [1, 3])
      for (const temperature of [0, 1]) {
        const all = Array.from({length: vocabulary.size}, (_, token) => token)
        assert.equal((await decode({forbidden: all}, {beamSize, temperatures: [temperature]})).text, '')
      }
  })

  it('consists of constrained phrases', async () => {
    const phrases = ['two seven', 'nine']
    const {text, escaped} = await decode({phrases, stuckSteps: 100})
    assert.equal(escaped, false)
    assert.ok(text !== '' && isSequenceOf(phrases, text), text)
    assert.ok(!isSequenceOf(phrases, (await decode({})).text))
  })

  it('contains any text after steps that are far from all phrases', async () => {
    const free = await decode({})
    // The words that this model never writes.
    const phrases = digits.filter((word) => !free.text.includes(word))
    const sharpened = {...audio, decode: () => sharp(audio.decode(), 40)}
    const {vocabulary, config} = parts
    const run = async (stuckSteps: number) => {
      const constraints = constraintCompiler(whisperText(vocabulary))(constraintsOf({phrases, stuckSteps}))
      const limits = {timestamps: false, context: config.textPositions, constraints}
      const prompt = buildPrompt(vocabulary, {language: 'en', task: 'transcribe'}, {hotwords: []}, limits)
      return decodeWindow(sharpened, vocabulary, prompt, {...defaultTranscribeOptions, temperatures: [0]}, limits)
    }
    const [early, late, never] = [await run(1), await run(3), await run(100)]
    assert.deepEqual([early.escaped, late.escaped, never.escaped], [true, true, false])
    assert.equal(early.text, free.text)
    assert.ok(isSequenceOf(phrases, textOfFirst(late.tokens, 2)) && !isSequenceOf(phrases, late.text))
    assert.ok(isSequenceOf(phrases, never.text))
  })

  it('contains a biased phrase only if it is similarly likely', async () => {
    const free = await decode({})
    const [first] = free.tokens
    const logits = await firstLogits()
    const ranked = [...digits.keys()].sort((a, b) => logits[b]! - logits[a]!)
    assert.equal(ranked[0], first)
    const near = ranked.filter((token) => logits[ranked[0]!]! - logits[token]! < Math.log(20))
    const far = ranked.filter((token) => !near.includes(token))
    const choose = async (token: number) => (await decode({bias: [digits[token]!], biasStrength: 100})).tokens[0]
    for (const token of near) assert.equal(await choose(token), token)
    for (const token of far) assert.equal(await choose(token), first)
    assert.ok(near.length > 1 && far.length > 0, `${near.length} of ${ranked.length} words are near`)
  })

  it('reports log-probabilities before the constraints', async () => {
    const free = await decode({})
    const [first = -1] = free.tokens
    const {tokens, logprobs} = await decode({phrases: [digits[first]!]})
    assert.equal(tokens[0], first)
    assert.ok(Math.abs(logprobs[0]! - free.logprobs[0]!) < 1e-6)
    const logits = await firstLogits()
    const {tokens: other, logprobs: lower} = await decode({forbidden: [first]})
    assert.ok(Math.abs(lower[0]! - (free.logprobs[0]! - (logits[first]! - logits[other[0]!]!))) < 1e-4)
  })

  it('obeys any combination of constraints', async () => {
    const {below} = seeded(11)
    const list = <T>(most: number, one: () => T): T[] => Array.from({length: below(most + 1)}, one)
    const phrase = () => [digits[below(10)], ...list(2, () => digits[below(10)])].join(' ')
    const seen = {escaped: 0, dropped: 0, constrained: 0, texts: new Set<string>()}
    for (let i = 0; i < 1000; i++) {
      const phrases = below(2) === 0 ? [] : list(4, phrase)
      const forbidden = list(6, () => below(20))
      const biased = {bias: list(4, phrase), biasStrength: below(4) * 4, biasMaxTokens: 1 + below(6)}
      const constraints = {...biased, phrases, forbidden, stuckSteps: 1 + below(3)}
      const decoding = {beamSize: 1 + below(3), temperatures: [[0], [0.5], [1]][below(3)]!}
      const {tokens, logprobs, text, escaped, hypotheses, warnings} = await decode(constraints, decoding)
      const what = JSON.stringify({constraints, decoding, text})
      for (const hypothesis of hypotheses)
        assert.ok(!hypothesis.tokens.some((token) => forbidden.includes(token) && token !== 11 && token !== 10), what)
      assert.ok(logprobs.length === tokens.length && logprobs.every((one) => one <= 0 && one > -Infinity), what)
      const isDropped = warnings.includes('constraint_dropped')
      if (phrases.length > 0 && !escaped && !isDropped) {
        seen.constrained++
        assert.ok(isSequenceOf(phrases, text), what)
      }
      seen.escaped += escaped ? 1 : 0
      seen.dropped += isDropped ? 1 : 0
      seen.texts.add(text)
    }
    assert.ok(seen.constrained > 100 && seen.dropped > 10 && seen.texts.size > 100, JSON.stringify(seen))
  })
})

const textOfFirst = (tokens: readonly number[], count: number) =>
  parts.vocabulary.tokenizer.decode(tokens.slice(0, count))

/** Logits of the first step. */
async function firstLogits(): Promise<Float32Array> {
  const {vocabulary, config} = parts
  const limits = {timestamps: false, context: config.textPositions}
  const {tokens} = buildPrompt(vocabulary, {language: 'en', task: 'transcribe'}, {hotwords: []}, limits)
  return allLogits(await audio.decode().prefill(tokens, [tokens.length - 1]))
}

/** A run whose differences between logits are larger. */
function sharp(run: ReturnType<AudioContext['decode']>, factor: number): ReturnType<AudioContext['decode']> {
  const scaled = (rows: readonly TokenLogits[]) =>
    rows.map(({values}) => TokenLogits.of(values.map((logit) => factor * logit)))
  return {
    get rows() {
      return run.rows
    },
    get length() {
      return run.length
    },
    wholeHeads: 0,
    prefill: async (tokens, at) => scaled(await run.prefill(tokens, at)),
    step: async (tokens) => scaled(await run.step(tokens)),
    select: (sources) => run.select(sources),
  }
}
