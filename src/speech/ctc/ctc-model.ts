import {SvcError} from '../../errors/index.js'
import {type CompiledConstraints, constraintCompiler} from '../constraints/compile.js'
import {preferPhrases} from '../constraints/preferred-reading.js'
import {
  type DraftStream,
  type RecognitionOptions,
  type Segment,
  type SpeechModel,
  type SpeechModelDescription,
  sampleRate,
  type TokenPiece,
  type WindowResult,
  type WordTiming,
} from '../model/model.js'
import {alignPath, type TokenSpan} from './align-path.js'
import {type CtcHypothesis, type Emissions, greedyPath} from './emissions.js'
import type {CtcEncoder, Encoded} from './encoder.js'
import type {StreamingEncoder} from './encoder-stream.js'
import {type FoundTexts, PrefixBeam, type PrefixBeamOptions, prefixBeamSearch} from './prefix-beam-search.js'
import {type PrefixScorer, scoreOf} from './prefix-scorer.js'
import {type CtcVocabulary, ctcText, textOf} from './vocabulary.js'

export interface CtcParts {
  encoder: CtcEncoder
  /** Undefined if the model needs the complete audio. */
  streaming: StreamingEncoder | undefined
  vocabulary: CtcVocabulary
  /** Word list of the model, if there is one. */
  words: PrefixScorer | undefined
  description: SpeechModelDescription
}

/** Minimum beam width with constraints or alternatives, and with a word list. */
const minWidth = {letters: 16, words: 32}

/** Creates a `SpeechModel` from a CTC model; each window is one segment. */
export function createCtcModel({encoder, streaming, vocabulary, words, description}: CtcParts): SpeechModel {
  const [language = 'en'] = description.languages
  const compile = constraintCompiler(ctcText(vocabulary))
  return {
    description,
    async recognise(samples, options, signal) {
      if (options.task === 'translate') throw new SvcError('task_unsupported', {model: description.name})
      const constraints = compile(options.constraints)
      const encoded = await encoder.encode(samples)
      const {emissions, featuresMs, encodeMs} = encoded
      signal?.throwIfAborted()
      const started = performance.now()
      const {hypotheses, escaped} = decodeEmissions(emissions, vocabulary, words, {...options, constraints})
      const [best] = hypotheses
      const consumedSec = samples.length / sampleRate
      const segment = best === undefined ? undefined : segmentOf(encoded, best, vocabulary, consumedSec, options)
      if (segment !== undefined && escaped) segment.constraintEscaped = true
      return {
        segments: segment === undefined ? [] : [segment],
        consumedSec,
        language: options.language ?? language,
        languageProbability: 1,
        noSpeech: segment === undefined,
        temperature: 0,
        alternatives: alternativesOf(hypotheses, vocabulary, words, options.alternatives),
        warnings: constraints?.warnings ?? [],
        timings: {featuresMs, encodeMs, decodeMs: performance.now() - started, wholeHeads: 0},
      }
    },
    detectLanguage: async () => description.languages.map((code) => ({language: code, probability: 1})).slice(0, 1),
    ...(streaming === undefined
      ? {}
      : {
          draft: (options) =>
            createDraft(streaming, vocabulary, words, {...options, constraints: compile(options.constraints)}),
        }),
    async release() {
      await encoder.release()
      await streaming?.release()
    },
  }
}

function createDraft(
  streaming: StreamingEncoder,
  vocabulary: CtcVocabulary,
  words: PrefixScorer | undefined,
  options: DecodeOptions,
): DraftStream {
  const started = streaming.start()
  const beam = new PrefixBeam(searchOptions(vocabulary, words, options))
  const best = (found: PrefixBeam) => {
    const [first] = preferred(found.hypotheses({complete: false}), vocabulary, words, options)
    return textOf(vocabulary, first?.tokens ?? [])
  }
  return {
    async push(samples) {
      const stream = await started
      const emissions = await stream.push(samples)
      if (emissions !== undefined) beam.add(emissions)
      const ahead = beam.fork()
      const tail = await stream.tail()
      if (tail !== undefined) ahead.add(tail)
      return {text: best(ahead), certain: best(beam)}
    },
    close: () => undefined,
  }
}

/** Options of a decoding, with compiled constraints. */
type DecodeOptions = Pick<RecognitionOptions, 'beamSize' | 'alternatives' | 'preferred'> & {
  constraints: CompiledConstraints | undefined
}

/** Returns the options of a search with the word list and the constraints. */
function searchOptions(
  {blank}: CtcVocabulary,
  words: PrefixScorer | undefined,
  {beamSize, alternatives, constraints}: DecodeOptions,
): PrefixBeamOptions {
  const min = words === undefined ? minWidth.letters : minWidth.words
  return {width: Math.max(beamSize, alternatives, min), blank, scorer: words, constraints}
}

/** Returns the hypotheses of a window, the selected one first. Bonuses add hypotheses and do not rank them. */
export function decodeEmissions(
  emissions: Emissions,
  vocabulary: CtcVocabulary,
  words: PrefixScorer | undefined,
  options: DecodeOptions,
): FoundTexts {
  const {beamSize, alternatives, constraints} = options
  if (beamSize === 1 && alternatives === 1 && words === undefined && constraints === undefined)
    return {hypotheses: [greedyPath(emissions, vocabulary.blank)], escaped: false}
  const {hypotheses, escaped} = prefixBeamSearch(emissions, searchOptions(vocabulary, words, options))
  return {hypotheses: preferred(hypotheses, vocabulary, words, options), escaped}
}

/** Puts the hypothesis with preferred phrases first. */
function preferred(
  hypotheses: readonly CtcHypothesis[],
  vocabulary: CtcVocabulary,
  words: PrefixScorer | undefined,
  {preferred: preference}: Pick<DecodeOptions, 'preferred'>,
): CtcHypothesis[] {
  const [best] = hypotheses
  if (best === undefined) return []
  return preferPhrases(hypotheses, {
    best,
    text: ({tokens}) => textOf(vocabulary, tokens),
    score: scoreWith(words),
    preferred: preference,
  })
}

/** Log-probability of a hypothesis, with that of its words if there is a word list. */
const scoreWith =
  (words: PrefixScorer | undefined) =>
  ({tokens, logprob}: CtcHypothesis): number =>
    logprob + (words === undefined ? 0 : scoreOf(words, tokens))

function segmentOf(
  {emissions, coveredSec, padSec}: Encoded,
  {tokens, logprob}: CtcHypothesis,
  vocabulary: CtcVocabulary,
  lengthSec: number,
  {wordTimestamps, pieces = false}: RecognitionOptions,
): Segment | undefined {
  const text = textOf(vocabulary, tokens)
  if (text === '') return undefined
  const spans = alignPath(emissions, tokens, vocabulary.blank)
  const positionSec = coveredSec / emissions.positions
  const timeOf = (position: number) => Math.min(lengthSec, Math.max(0, position * positionSec - padSec))
  const heard = spans?.filter(({token}) => token !== vocabulary.delimiter) ?? []
  const [first, last] = [heard[0], heard.at(-1)]
  return {
    startSec: first === undefined ? 0 : timeOf(first.first),
    endSec: last === undefined ? lengthSec : timeOf(last.last + 1),
    text,
    tokens,
    temperature: 0,
    avgLogprob: meanLogprob(heard) ?? logprob / Math.max(1, emissions.positions),
    compressionRatio: 1,
    noSpeechProb: 0,
    ...(wordTimestamps && spans !== undefined ? {words: wordsOf(spans, vocabulary, timeOf)} : {}),
    ...(pieces && spans !== undefined ? {pieces: piecesOf(spans, vocabulary)} : {}),
  }
}

const piecesOf = (spans: readonly TokenSpan[], {texts}: CtcVocabulary): TokenPiece[] =>
  spans.map(({token, logprob}) => ({token, text: texts[token] ?? '', logprob}))

const meanLogprob = (spans: readonly TokenSpan[]): number | undefined =>
  spans.length === 0 ? undefined : spans.reduce((sum, {logprob}) => sum + logprob, 0) / spans.length

/** Word timings; each word includes the space before it. */
function wordsOf(
  spans: readonly TokenSpan[],
  {texts}: CtcVocabulary,
  timeOf: (position: number) => number,
): WordTiming[] {
  const words: TokenSpan[][] = []
  for (const span of spans) {
    const text = texts[span.token] ?? ''
    if (text.startsWith(' ') || words.length === 0) words.push([])
    if (text.trim() !== '') words.at(-1)?.push(span)
  }
  const spoken = words.filter((word) => word.length > 0)
  return spoken.map((word, i) => ({
    word: (i === 0 ? '' : ' ') + word.map(({token}) => (texts[token] ?? '').trim()).join(''),
    startSec: timeOf((word[0] as TokenSpan).first),
    endSec: timeOf((word.at(-1) as TokenSpan).last + 1),
    probability: Math.exp(meanLogprob(word) ?? 0),
  }))
}

function alternativesOf(
  hypotheses: readonly CtcHypothesis[],
  vocabulary: CtcVocabulary,
  words: PrefixScorer | undefined,
  count: number,
): WindowResult['alternatives'] {
  if (count < 2) return []
  const scoreOfHypothesis = scoreWith(words)
  const texts = new Map<string, number>()
  for (const hypothesis of hypotheses) {
    const text = textOf(vocabulary, hypothesis.tokens)
    if (text !== '' && !texts.has(text)) texts.set(text, scoreOfHypothesis(hypothesis))
  }
  return [...texts].slice(0, count).map(([text, score]) => ({text, score}))
}
