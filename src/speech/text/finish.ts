import {biasPhrases} from './bias-phrases.js'
import {candidatesOf, distinct, sortByHits} from './candidates.js'
import type {Correction} from './correction.js'
import {joinTexts} from './join-texts.js'
import {applyLexicon, type Lexicon} from './lexicon.js'
import {type RefineContext, refine, refineSegments} from './refine.js'
import {writeSpokenCode} from './spoken-code.js'

/** Options of the refinement of a raw transcript. */
export interface FinishContext extends RefineContext {
  lexicon: Lexicon
  hotwords: readonly string[]
  /** Uses lexicon and hotwords to rank candidates. */
  contextualBias: boolean
  maxBiasPhrases: number
  /**
   * Returns the index of the candidate that is code, the best one first if several are; undefined if none is.
   * @param raw the text of the recogniser
   */
  rank?: ((candidates: readonly string[], raw: string) => number | undefined) | undefined
}

export interface FinishedText {
  rawText: string
  /** The best candidate after refinement and lexicon. */
  refinedText: string
  /** Confidence, 0 to 1, after the corrections; not acoustic. */
  confidence: number
  trace: readonly Correction[]
  /** All candidates, best first; undefined if there is only one. */
  nBest: readonly string[] | undefined
}

/** A finished transcript of several segments. */
export interface FinishedSegments extends FinishedText {
  /** Text of each segment; undefined if the best candidate is not divided into them. */
  segmentTexts: readonly string[] | undefined
}

/** Refines one segment. The result is its text in the transcript, unless `needsAllSegments`. */
export function finishSegment(raw: string, context: FinishContext): string {
  return bestOf(applyLexicon(refine(raw, context).text, context.lexicon), raw, rankPhrases(context))
}

/**
 * Refines a raw transcript: refinement rules, lexicon, and ranking of candidates. The best one consists of the best
 * candidate of each segment, unless another candidate is code.
 * @param raws texts of the segments
 * @param alternatives other readings of the recogniser, best first; they are listed behind those of `raws`
 */
export function finishText(
  raws: readonly string[],
  context: FinishContext,
  alternatives: readonly string[] = [],
): FinishedSegments {
  const {lexicon, rank} = context
  const rawText = joinTexts(raws)
  const {texts, confidence, trace} = refineSegments(raws, context)
  const written = texts.map((text) => applyLexicon(text, lexicon))
  const phrases = rankPhrases(context)
  const segmentTexts = written.map((text, i) => bestOf(text, raws[i] ?? '', phrases))
  const own = distinct([joinWritten(segmentTexts), ...candidatesOf(joinWritten(written), rawText)])
  const [best = ''] = own
  // Silence has no alternatives.
  const others = (best === '' ? [] : alternatives).map((text) => applyLexicon(refine(text, context).text, lexicon))
  const code = rank === undefined ? [] : others.map(writeSpokenCode)
  const candidates = distinct([...own, ...others, ...code])
  const first = candidates[rank?.(candidates, rawText) ?? 0] ?? ''
  const nBest = distinct([first, best, ...sortByHits(own, phrases), ...others])
  return {
    rawText,
    refinedText: first,
    confidence,
    trace,
    nBest: nBest.length > 1 ? nBest : undefined,
    segmentTexts: first === best ? segmentTexts : undefined,
  }
}

/** The candidate of a segment with the most phrases. */
const bestOf = (written: string, raw: string, phrases: readonly string[]): string =>
  sortByHits(candidatesOf(written, raw), phrases)[0] ?? ''

const joinWritten = (texts: readonly string[]): string => texts.filter((text) => text !== '').join(' ')

/** The phrases that rank candidates. Aliases do not count: they are misrecognitions, which the lexicon has replaced. */
const rankPhrases = ({lexicon, hotwords, contextualBias, maxBiasPhrases}: FinishContext): string[] =>
  contextualBias
    ? biasPhrases({entries: lexicon.entries.map((entry) => ({...entry, aliases: []}))}, hotwords, maxBiasPhrases)
    : []
