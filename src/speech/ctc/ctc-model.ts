import {SvcError} from '../../errors/index.js'
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
} from '../model.js'
import {preferPhrases} from '../preferred-reading.js'
import {alignPath, type TokenSpan} from './align-path.js'
import {type CtcHypothesis, type Emissions, greedyPath} from './emissions.js'
import type {CtcEncoder, Encoded} from './encoder.js'
import type {StreamingEncoder} from './encoder-stream.js'
import {HotwordTrie} from './hotword-trie.js'
import {PrefixBeam, prefixBeamSearch} from './prefix-beam-search.js'
import {bothScorers, type PrefixScorer, scoreOf} from './prefix-scorer.js'
import {type CtcVocabulary, textOf} from './vocabulary.js'

export interface CtcParts {
  encoder: CtcEncoder
  /** Undefined if the model needs the complete audio. */
  streaming: StreamingEncoder | undefined
  vocabulary: CtcVocabulary
  /** Word list of the model, if there is one. */
  words: PrefixScorer | undefined
  description: SpeechModelDescription
}

/** Minimum beam width with hotwords or alternatives, and with a word list. */
const leastWidth = {letters: 16, words: 32}

/** Creates a `SpeechModel` from a CTC model; each window is one segment. */
export function createCtcModel({encoder, streaming, vocabulary, words, description}: CtcParts): SpeechModel {
  const [language = 'en'] = description.languages
  return {
    description,
    async recognise(samples, options, signal) {
      if (options.task === 'translate') throw new SvcError('task_unsupported', {model: description.name})
      const encoded = await encoder.encode(samples)
      const {emissions, featuresMs, encodeMs} = encoded
      signal?.throwIfAborted()
      const started = performance.now()
      const hypotheses = decodeEmissions(emissions, vocabulary, words, options)
      const [best] = hypotheses
      const consumedSec = samples.length / sampleRate
      const segment = best === undefined ? undefined : segmentOf(encoded, best, vocabulary, consumedSec, options)
      return {
        segments: segment === undefined ? [] : [segment],
        consumedSec,
        language: options.language ?? language,
        languageProbability: 1,
        noSpeech: segment === undefined,
        temperature: 0,
        alternatives: alternativesOf(hypotheses, vocabulary, options.alternatives),
        timings: {featuresMs, encodeMs, decodeMs: performance.now() - started},
      }
    },
    detectLanguage: async () => description.languages.map((code) => ({language: code, probability: 1})).slice(0, 1),
    ...(streaming === undefined
      ? {}
      : {draft: (options) => createDraft(streaming, vocabulary, searchOptions(vocabulary, words, options))}),
    async release() {
      await encoder.release()
      await streaming?.release()
    },
  }
}

function createDraft(
  streaming: StreamingEncoder,
  vocabulary: CtcVocabulary,
  search: ConstructorParameters<typeof PrefixBeam>[0],
): DraftStream {
  const started = streaming.start()
  const beam = new PrefixBeam(search)
  const best = (found: PrefixBeam) => textOf(vocabulary, found.hypotheses()[0]?.tokens ?? [])
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

/** Returns the options of a search with the word list and hotwords. */
function searchOptions(
  vocabulary: CtcVocabulary,
  words: PrefixScorer | undefined,
  {beamSize, hotwords, hotwordStrength}: RecognitionOptions,
) {
  const least = words === undefined ? leastWidth.letters : leastWidth.words
  const isBiased = hotwords.length > 0 && hotwordStrength > 0
  const boosted = isBiased ? new HotwordTrie(hotwords, vocabulary, hotwordStrength) : undefined
  const scorer = words === undefined || boosted === undefined ? (words ?? boosted) : bothScorers(words, boosted)
  return {width: Math.max(beamSize, least), blank: vocabulary.blank, scorer}
}

/**
 * Returns the hypotheses of a window, the selected one first. A second search with hotwords adds candidates, which are
 * compared without the bonus of the hotwords.
 */
export function decodeEmissions(
  emissions: Emissions,
  vocabulary: CtcVocabulary,
  words: PrefixScorer | undefined,
  options: Pick<RecognitionOptions, 'beamSize' | 'alternatives' | 'hotwords' | 'hotwordStrength' | 'preferred'>,
): CtcHypothesis[] {
  const {beamSize, alternatives, hotwords, hotwordStrength, preferred} = options
  const {blank} = vocabulary
  const isBiased = hotwords.length > 0 && hotwordStrength > 0
  if (beamSize === 1 && alternatives === 1 && words === undefined && !isBiased) return [greedyPath(emissions, blank)]
  const least = words === undefined ? leastWidth.letters : leastWidth.words
  const width = Math.max(beamSize, alternatives, least)
  const found = prefixBeamSearch(emissions, {width, blank, scorer: words})
  const [best] = found
  if (best === undefined) return []
  if (isBiased) {
    const boosted = new HotwordTrie(hotwords, vocabulary, hotwordStrength)
    const scorer = words === undefined ? boosted : bothScorers(words, boosted)
    found.push(...prefixBeamSearch(emissions, {width, blank, scorer}))
  }
  return preferPhrases(found, {
    best,
    text: ({tokens}) => textOf(vocabulary, tokens),
    score: ({tokens, logprob}) => logprob + (words === undefined ? 0 : scoreOf(words, tokens)),
    phrases: preferred,
  })
}

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
  count: number,
): WindowResult['alternatives'] {
  if (count < 2) return []
  const texts = new Map<string, number>()
  for (const {tokens, logprob} of hypotheses) {
    const text = textOf(vocabulary, tokens)
    if (text !== '' && !texts.has(text)) texts.set(text, logprob / Math.max(1, tokens.length))
  }
  return [...texts].slice(0, count).map(([text, score]) => ({text, score}))
}
