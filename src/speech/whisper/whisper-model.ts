import {hopLength, logMel} from '../../audio/index.js'
import {SvcError} from '../../errors/index.js'
import {type ConstraintCompiler, constraintCompiler} from '../constraints/compile.js'
import {
  draftPaddingSec,
  type LanguageGuess,
  type RecognitionOptions,
  type Segment,
  type SpeechModel,
  type SpeechModelDescription,
  sampleRate,
  type TokenPiece,
  type WindowResult,
} from '../model/model.js'
import {framesPerPosition, type WhisperConfig} from './config.js'
import {
  compressionRatio,
  type DecodedWindow,
  decodeTogether,
  decodeWindow,
  textOf,
  totalLogprob,
} from './decode-window.js'
import type {AudioContext, WhisperNetwork} from './network.js'
import {buildPrompt, taskTokens} from './prompt.js'
import {whisperText} from './text-vocabulary.js'
import {cutAtTimestamps, type TimedTokens, type TimedWindow} from './timed-segments.js'
import type {WhisperVocabulary} from './vocabulary.js'
import {positionSec, timeWords, withWords} from './word-timings.js'

export interface WhisperParts {
  config: WhisperConfig
  vocabulary: WhisperVocabulary
  network: WhisperNetwork
  description: SpeechModelDescription
}

/** Creates a `SpeechModel` from the parts of a Whisper model. */
export function createWhisperModel(parts: WhisperParts): SpeechModel {
  const {vocabulary} = parts
  const withVocabulary = (own: WhisperVocabulary) =>
    [{...parts, vocabulary: own}, constraintCompiler(whisperText(own))] as const
  const listed = withVocabulary(vocabulary)
  const unlisted = withVocabulary({...vocabulary, suppressed: vocabulary.promptOnly})
  const chosen = ({constraints}: RecognitionOptions) => (constraints.allowListed ? unlisted : listed)
  return {
    description: parts.description,
    recognise: (samples, options, signal) => recognise(...chosen(options), samples, options, signal),
    ...(parts.network.together === undefined
      ? {}
      : {recogniseAll: (windows, options, signal) => recogniseAll(...chosen(options), windows, options, signal)}),
    async detectLanguage(samples, signal) {
      const audio = await encode(parts, samples, windowFrames(parts))
      signal?.throwIfAborted()
      return detectLanguage(parts, audio.context)
    },
    release: () => parts.network.release(),
  }
}

async function recognise(
  parts: WhisperParts,
  compile: ConstraintCompiler,
  samples: Float32Array,
  requested: RecognitionOptions,
  signal?: AbortSignal,
): Promise<WindowResult> {
  const options = requested.draft ? {...requested, ...draftOptions} : requested
  requireTask(parts, options)
  const constraints = compile(options.constraints)
  const windowSec = samples.length / sampleRate
  const frames = options.draft ? draftFrames(parts, samples.length) : windowFrames(parts)
  const {context, featuresMs, encodeMs} = await encode(parts, samples, frames)
  signal?.throwIfAborted()
  const started = performance.now()
  const guess = await languageOf(parts, context, options.language)
  const {timestamps} = parts.description
  const maxTokens = options.draft ? draftTokens(windowSec) : undefined
  const limits = {timestamps, context: parts.config.textPositions, maxTokens, constraints, signal}
  const prompt = buildPrompt(parts.vocabulary, {language: guess.language, task: options.task}, options, limits)
  const decoded = await decodeWindow(context, parts.vocabulary, prompt, options, limits)
  const timings = {featuresMs, encodeMs, decodeMs: performance.now() - started}
  return resultOf(parts, {context, windowSec, guess, decoded, constraints, timings}, options)
}

/**
 * Recognises windows in the same decoder runs, if the language is known and the decoding is greedy; the results are those
 * of `recognise`.
 */
async function recogniseAll(
  parts: WhisperParts,
  compile: ConstraintCompiler,
  windows: readonly Float32Array[],
  options: RecognitionOptions,
  signal?: AbortSignal,
): Promise<WindowResult[]> {
  const {network, vocabulary, description, config} = parts
  const {language} = options
  if (
    network.together === undefined ||
    language === undefined ||
    options.draft ||
    options.beamSize > 1 ||
    options.temperatures[0] !== 0
  ) {
    const results: WindowResult[] = []
    for (const samples of windows) results.push(await recognise(parts, compile, samples, options, signal))
    return results
  }
  requireTask(parts, options)
  const constraints = compile(options.constraints)
  const encoded: Awaited<ReturnType<typeof encode>>[] = []
  for (const samples of windows) {
    encoded.push(await encode(parts, samples, windowFrames(parts)))
    await new Promise((resolve) => setImmediate(resolve))
    signal?.throwIfAborted()
  }
  const started = performance.now()
  const limits = {timestamps: description.timestamps, context: config.textPositions, constraints, signal}
  const prompt = buildPrompt(vocabulary, {language, task: options.task}, options, limits)
  const audio = network.together(encoded.map(({context}) => context))
  const decoded = await decodeTogether(audio, vocabulary, prompt, options, limits)
  const decodeMs = (performance.now() - started) / windows.length
  const results: WindowResult[] = []
  for (const [i, {context, featuresMs, encodeMs}] of encoded.entries()) {
    const again = performance.now()
    const warmer = {...options, temperatures: options.temperatures.slice(1)}
    const accepted = decoded[i] ?? (await decodeWindow(context, vocabulary, prompt, warmer, limits))
    const timings = {featuresMs, encodeMs, decodeMs: decodeMs + performance.now() - again}
    const windowSec = (windows[i] as Float32Array).length / sampleRate
    const guess = {language, probability: 1}
    results.push(await resultOf(parts, {context, windowSec, guess, decoded: accepted, constraints, timings}, options))
  }
  return results
}

function requireTask({description}: WhisperParts, {task}: RecognitionOptions): void {
  if (task === 'translate' && !description.translates) throw new SvcError('task_unsupported', {model: description.name})
}

interface RecognisedWindow {
  context: AudioContext
  windowSec: number
  guess: LanguageGuess
  decoded: DecodedWindow
  constraints: ReturnType<ConstraintCompiler>
  timings: Omit<WindowResult['timings'], 'wholeHeads'>
}

async function resultOf(
  parts: WhisperParts,
  {context, windowSec, guess, decoded, constraints, timings}: RecognisedWindow,
  options: RecognitionOptions,
): Promise<WindowResult> {
  const {vocabulary} = parts
  const started = performance.now()
  const language = {language: guess.language, task: options.task}
  const timed = decoded.noSpeech
    ? {segments: [], consumedSec: windowSec}
    : cutAtTimestamps(vocabulary, decoded.tokens, windowSec)
  const pieces = options.pieces ? piecesOf(vocabulary, timed, decoded) : []
  const segments = timed.segments.map((piece, i) => asSegment(vocabulary, piece, decoded, pieces[i]))
  const words = options.wordTimestamps ? await wordsOf(parts, context, timed, decoded, language, windowSec) : undefined
  return {
    segments: words === undefined ? segments : segments.map((segment, i) => withWords(segment, words[i] ?? [])),
    consumedSec: timed.consumedSec,
    language: guess.language,
    languageProbability: guess.probability,
    noSpeech: decoded.noSpeech,
    temperature: decoded.temperature,
    alternatives: alternatives(vocabulary, decoded, options.alternatives),
    warnings: constraints?.warnings ?? [],
    timings: {
      ...timings,
      decodeMs: timings.decodeMs + performance.now() - started,
      wholeHeads: decoded.wholeHeads,
    },
  }
}

/** A draft is decoded once, without what follows from its text. */
const draftOptions = {temperatures: [0], beamSize: 1, wordTimestamps: false, pieces: false, alternatives: 1}

/** Frames of a window of the training. */
const windowFrames = ({config}: WhisperParts): number => config.audioPositions * framesPerPosition

function draftFrames(parts: WhisperParts, samples: number): number {
  const positions = Math.ceil((samples / sampleRate + draftPaddingSec) / positionSec)
  return parts.network.anyLength ? Math.min(windowFrames(parts), positions * framesPerPosition) : windowFrames(parts)
}

/** Maximum number of tokens of a draft: more than anyone speaks. */
const draftTokens = (seconds: number): number => Math.ceil(6 * seconds) + 8

/** Computes features and encoder output; the window is padded with silence to `frames`. */
async function encode({config, network}: WhisperParts, samples: Float32Array, frames: number) {
  const started = performance.now()
  const mel = logMel(samples, {bins: config.melBins, frames})
  const encoded = performance.now()
  const context = await network.encode(mel, frames)
  return {context, featuresMs: encoded - started, encodeMs: performance.now() - encoded}
}

async function languageOf(
  parts: WhisperParts,
  context: AudioContext,
  requested: string | undefined,
): Promise<LanguageGuess> {
  if (requested !== undefined) return {language: requested, probability: 1}
  const [best] = await detectLanguage(parts, context)
  return best as LanguageGuess
}

/** Runs the decoder on the start token; the softmax over the language tokens gives the probabilities. */
async function detectLanguage(
  {vocabulary, description}: WhisperParts,
  context: AudioContext,
): Promise<LanguageGuess[]> {
  const {languages, startOfTranscript} = vocabulary
  if (languages.size === 0) return [{language: description.languages[0] ?? 'en', probability: 1}]
  const run = context.decode()
  const [logits] = await run.prefill([startOfTranscript], [0])
  const scores = [...languages].map(([language, token]) => ({language, logit: logits?.values[token] as number}))
  const highest = Math.max(...scores.map(({logit}) => logit))
  const total = scores.reduce((sum, {logit}) => sum + Math.exp(logit - highest), 0)
  return scores
    .map(({language, logit}) => ({language, probability: Math.exp(logit - highest) / total}))
    .sort((a, b) => b.probability - a.probability)
}

function asSegment(
  vocabulary: WhisperVocabulary,
  piece: TimedTokens,
  decoded: DecodedWindow,
  pieces: readonly TokenPiece[] | undefined,
): Segment {
  const text = textOf(vocabulary, piece.tokens)
  return {
    ...piece,
    text,
    temperature: decoded.temperature,
    avgLogprob: decoded.avgLogprob,
    compressionRatio: compressionRatio(text),
    noSpeechProb: decoded.noSpeechProb,
    ...(decoded.escaped ? {constraintEscaped: true} : {}),
    ...(pieces === undefined ? {} : {pieces}),
  }
}

/** The tokens of each segment with their texts and log-probabilities. */
function piecesOf(vocabulary: WhisperVocabulary, {segments}: TimedWindow, decoded: DecodedWindow): TokenPiece[][] {
  const {firstTimestamp = Infinity} = vocabulary
  const heard = decoded.tokens.flatMap((token, i) =>
    token < firstTimestamp ? [{token, logprob: decoded.logprobs[i] as number}] : [],
  )
  let at = 0
  return segments.map(({tokens}) => {
    // Tokens between two segments belong to segments without duration, which are dropped.
    while (!tokens.every((token, i) => heard[at + i]?.token === token)) at++
    const own = heard.slice(at, at + tokens.length)
    at += tokens.length
    let said = ''
    return own.map(({token, logprob}, i) => {
      const text = textOf(vocabulary, tokens.slice(0, i + 1))
      if (text.endsWith('\uFFFD')) return {token, text: '', logprob}
      const added = text.slice(said.length)
      said = text
      return {token, text: added, logprob}
    })
  })
}

/** Times words with a second decoder run over the text, without timestamps, that returns the cross-attention. */
async function wordsOf(
  {vocabulary, description, config}: WhisperParts,
  context: AudioContext,
  {segments}: TimedWindow,
  decoded: DecodedWindow,
  {language, task}: {language: string; task: RecognitionOptions['task']},
  windowSec: number,
) {
  if (context.align === undefined) throw new SvcError('words_unsupported', {model: description.name})
  const text = segments.flatMap(({tokens}) => tokens)
  if (text.length === 0) return []
  const {noTimestamps, endOfText} = vocabulary
  const start = [...taskTokens(vocabulary, language, task), ...(noTimestamps === undefined ? [] : [noTimestamps])]
  const room = config.textPositions - start.length - 1
  if (text.length > room) return undefined
  const attention = await context.align([...start, ...text, endOfText])
  return timeWords(vocabulary, segments, {
    attention,
    firstRow: start.length - 1,
    positions: Math.ceil(Math.ceil((windowSec * sampleRate) / hopLength) / framesPerPosition),
    probabilities: textProbabilities(vocabulary, decoded),
    language,
  })
}

function textProbabilities({firstTimestamp = Infinity}: WhisperVocabulary, {tokens, logprobs}: DecodedWindow) {
  return logprobs.filter((_, i) => (tokens[i] as number) < firstTimestamp).map((logprob) => Math.exp(logprob))
}

function alternatives(vocabulary: WhisperVocabulary, {hypotheses}: DecodedWindow, count: number) {
  if (count < 2) return []
  const texts = new Map<string, number>()
  for (const hypothesis of hypotheses) {
    const text = textOf(vocabulary, hypothesis.tokens).trim()
    if (text !== '' && !texts.has(text)) texts.set(text, totalLogprob(hypothesis))
  }
  return [...texts].slice(0, count).map(([text, score]) => ({text, score}))
}

/** Window of a model, seconds. */
export const windowSecOf = ({audioPositions}: WhisperConfig): number => audioPositions * positionSec
