import {biasPhrases} from './bias-phrases.js'
import {candidatesOf, rankCandidates} from './candidates.js'
import type {Correction} from './correction.js'
import {applyLexicon, type Lexicon} from './lexicon.js'
import {type RefineContext, refine} from './refine.js'

/** Options of the refinement of a raw transcript. */
export interface FinishContext extends RefineContext {
  lexicon: Lexicon
  hotwords: readonly string[]
  /** Uses lexicon and hotwords to rank candidates. */
  contextualBias: boolean
  maxBiasPhrases: number
  /** Selects the candidate that parses as code. */
  rank?: ((candidates: readonly string[]) => number | undefined) | undefined
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

/**
 * Refines a raw transcript: refinement rules, lexicon, and ranking of candidates.
 * @param alternatives other readings of the recogniser, best first; they are listed behind those of `raw`
 */
export function finishText(raw: string, context: FinishContext, alternatives: readonly string[] = []): FinishedText {
  const {text, confidence, trace} = refine(raw, context)
  const written = applyLexicon(text, context.lexicon)
  const {lexicon, hotwords, contextualBias, maxBiasPhrases, rank} = context
  const phrases = contextualBias ? biasPhrases(lexicon, hotwords, maxBiasPhrases) : []
  const ranking = rankCandidates(candidatesOf(written, raw), phrases, alternatives, rank)
  return {rawText: raw, refinedText: ranking.text, confidence, trace, nBest: ranking.nBest}
}

/** Refines a part of a transcript; rules for complete sentences are not applied. */
export const finishFragment = (raw: string, context: FinishContext): string =>
  applyLexicon(refine(raw, {...context, fragment: true}).text, context.lexicon)
