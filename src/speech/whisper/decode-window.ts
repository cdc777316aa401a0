import {deflateSync} from 'node:zlib'
import {logger} from '../../log/index.js'
import {beamCandidates, lengthPenalised, meanLogprob, type TokenLogits} from '../../sampling/index.js'
import type {CompiledConstraints} from '../constraints/compile.js'
import {logitConstraints} from '../constraints/logit-constraints.js'
import {preferPhrases} from '../constraints/preferred-reading.js'
import type {RecognitionOptions} from '../model/model.js'
import {
  choices,
  type DecodeLimits,
  drawHypotheses,
  followRows,
  type Hypothesis,
  searchHypotheses,
} from './hypothesis.js'
import type {AudioContext} from './network.js'
import type {Prompt} from './prompt.js'
import {tokenRules} from './token-rules.js'
import type {WhisperVocabulary} from './vocabulary.js'

/** The decoding of one window. */
export interface DecodedWindow extends Hypothesis {
  text: string
  temperature: number
  compressionRatio: number
  /** Probability of no speech, before any token rule is applied. */
  noSpeechProb: number
  /** True if the window counts as silence; its tokens are then meaningless. */
  noSpeech: boolean
  /** Number of tokens for which all logits were computed, because the choice was not certain. */
  wholeHeads: number
  /** All hypotheses at the accepted temperature: the selected one first, then by log-probability. */
  hypotheses: readonly Hypothesis[]
}

export type DecodeOptions = Pick<
  RecognitionOptions,
  | 'beamSize'
  | 'patience'
  | 'lengthPenalty'
  | 'bestOf'
  | 'temperatures'
  | 'seed'
  | 'noSpeechThreshold'
  | 'logprobThreshold'
  | 'compressionRatioThreshold'
  | 'preferred'
>

export interface DecodeWindowLimits {
  timestamps: boolean
  /** Number of decoder positions. */
  context: number
  maxTokens?: number | undefined
  constraints?: CompiledConstraints | undefined
  signal?: AbortSignal | undefined
}

/**
 * Decodes a window at increasing temperatures until the text is neither repetitive nor too unlikely. Source: the
 * temperature fallback of openai/whisper.
 */
export async function decodeWindow(
  audio: AudioContext,
  vocabulary: WhisperVocabulary,
  prompt: Prompt,
  options: DecodeOptions,
  windowLimits: DecodeWindowLimits,
): Promise<DecodedWindow> {
  const limits = limitsOf(vocabulary, prompt, options, windowLimits)
  let decoded: DecodedWindow | undefined
  let wholeHeads = 0
  for (const temperature of options.temperatures) {
    const searches = temperature === 0 && options.beamSize > 1
    const exact = searches ? beamCandidates(options.beamSize) : 1
    const run = audio.decode({allLogits: temperature > 0, exact, suppressed: vocabulary.suppressed})
    const last = prompt.tokens.length - 1
    const [atStart, atEnd] = await run.prefill(prompt.tokens, [prompt.startIndex, last], wantedAtStart(limits))
    if (atStart === undefined || atEnd === undefined) throw new Error('The decoder returned too few logits.')
    const hypotheses = searches
      ? await searchHypotheses(run, atEnd, {width: options.beamSize, patience: options.patience}, limits)
      : await drawHypotheses(run, atEnd, choices(temperature, options.bestOf, options.seed), limits)
    wholeHeads += run.wholeHeads
    const measures = {temperature, noSpeechProb: noSpeechProbability(vocabulary, atStart), wholeHeads}
    decoded = judge(vocabulary, hypotheses, measures, options)
    const isAccepted = decoded.noSpeech || !failed(decoded, options)
    logDecoding(vocabulary, decoded, isAccepted)
    if (isAccepted) break
  }
  if (decoded === undefined) throw new Error('The list of temperatures is empty.')
  return decoded.noSpeech ? decoded : prefer(vocabulary, decoded, options)
}

/**
 * Decodes several windows greedily in the same runs. The result of a window is undefined if `decodeWindow` must decode
 * it at the next temperature.
 * @param audio the windows, combined
 */
export async function decodeTogether(
  audio: AudioContext,
  vocabulary: WhisperVocabulary,
  prompt: Prompt,
  options: DecodeOptions,
  windowLimits: DecodeWindowLimits,
): Promise<(DecodedWindow | undefined)[]> {
  const limits = limitsOf(vocabulary, prompt, options, windowLimits)
  const run = audio.decode({allLogits: false, suppressed: vocabulary.suppressed})
  const {rows} = run
  const logits = await run.prefill(prompt.tokens, [prompt.startIndex, prompt.tokens.length - 1], wantedAtStart(limits))
  const silence = logits.slice(0, rows).map((row) => noSpeechProbability(vocabulary, row))
  const hypotheses = await followRows(run, logits.slice(rows), limits)
  return hypotheses.map((hypothesis, i) => {
    // Choices that were not certain are counted once, with the first window.
    const measures = {temperature: 0, noSpeechProb: silence[i] as number, wholeHeads: i === 0 ? run.wholeHeads : 0}
    const decoded = judge(vocabulary, [hypothesis], measures, options)
    const isLast = options.temperatures.length === 1
    const isAccepted = decoded.noSpeech || isLast || !failed(decoded, options)
    logDecoding(vocabulary, decoded, isAccepted)
    if (!isAccepted) return undefined
    return decoded.noSpeech ? decoded : prefer(vocabulary, decoded, options)
  })
}

function limitsOf(
  vocabulary: WhisperVocabulary,
  prompt: Prompt,
  {lengthPenalty}: DecodeOptions,
  {timestamps, context, maxTokens = context, constraints, signal}: DecodeWindowLimits,
): DecodeLimits {
  const {endOfText: end, firstTimestamp = Infinity} = vocabulary
  return {
    end,
    constraints: constraints && logitConstraints(constraints, {end, firstTimestamp}),
    rules: tokenRules(vocabulary, {timestamps}),
    maxTokens: Math.max(1, Math.min(maxTokens, Math.floor(context / 2), context - prompt.tokens.length)),
    rank: lengthPenalty === undefined ? meanLogprob : lengthPenalised(lengthPenalty),
    signal,
  }
}

const wantedAtStart = ({constraints}: DecodeLimits): readonly number[] =>
  constraints === undefined ? [] : constraints.wanted(constraints.start)

/** Logs each token with its log-probability, and the measures that decide whether the decoding is accepted. */
function logDecoding({tokenizer}: WhisperVocabulary, decoded: DecodedWindow, accepted: boolean): void {
  const log = logger('speech_decoder')
  if (!log.isLevelEnabled('debug')) return
  const {tokens, logprobs, temperature, avgLogprob, compressionRatio, noSpeechProb, noSpeech} = decoded
  const round = (value: number) => Number(value.toFixed(4))
  const steps = tokens.map((token, i) => [token, tokenizer.decode([token]), round(logprobs[i] ?? 0)])
  const measures = {
    avg_logprob: round(avgLogprob),
    compression_ratio: round(compressionRatio),
    no_speech_prob: round(noSpeechProb),
  }
  log.debug({temperature, steps, ...measures, no_speech: noSpeech, accepted}, 'Decoded a window.')
}

/** Selects the hypothesis with preferred phrases from an accepted decoding, without checking acceptance again. */
function prefer(vocabulary: WhisperVocabulary, decoded: DecodedWindow, options: DecodeOptions): DecodedWindow {
  const hypotheses = preferPhrases(decoded.hypotheses, {
    best: decoded.hypotheses[0] as Hypothesis,
    text: ({tokens}) => textOf(vocabulary, tokens),
    score: totalLogprob,
    preferred: options.preferred,
  })
  return {...judge(vocabulary, hypotheses, decoded, options), noSpeech: false}
}

function judge(
  vocabulary: WhisperVocabulary,
  hypotheses: readonly Hypothesis[],
  {temperature, noSpeechProb, wholeHeads}: Pick<DecodedWindow, 'temperature' | 'noSpeechProb' | 'wholeHeads'>,
  {noSpeechThreshold, logprobThreshold}: DecodeOptions,
): DecodedWindow {
  const best = hypotheses[0] as Hypothesis
  const text = textOf(vocabulary, best.tokens)
  return {
    ...best,
    text,
    temperature,
    compressionRatio: compressionRatio(text),
    noSpeechProb,
    wholeHeads,
    noSpeech: noSpeechProb > noSpeechThreshold && best.avgLogprob <= logprobThreshold,
    hypotheses,
  }
}

const failed = ({compressionRatio, avgLogprob}: DecodedWindow, options: DecodeOptions): boolean =>
  compressionRatio > options.compressionRatioThreshold || avgLogprob < options.logprobThreshold

function noSpeechProbability({noSpeech}: WhisperVocabulary, logits: TokenLogits): number {
  return noSpeech === undefined ? 0 : Math.exp(logits.values[noSpeech]! - logits.logSumExpAbove(logits.highest()))
}

/** Log-probability of the tokens and of the end of the text. */
export const totalLogprob = ({tokens, avgLogprob}: Hypothesis): number => avgLogprob * (tokens.length + 1)

/** UTF-8 bytes per compressed byte; high for repetitive text. */
export function compressionRatio(text: string): number {
  const bytes = Buffer.from(text, 'utf8')
  return bytes.length === 0 ? 0 : bytes.length / deflateSync(bytes).length
}

/** The text of tokens, without timestamps and other special tokens. */
export function textOf({tokenizer, firstTimestamp}: WhisperVocabulary, tokens: readonly number[]): string {
  const words = firstTimestamp === undefined ? tokens : tokens.filter((token) => token < firstTimestamp)
  return tokenizer.decode(words)
}
