import {biasPhrases} from './bias-phrases.js'
import {candidatesOf, rankCandidates} from './candidates.js'
import type {Correction} from './correction.js'
import {applyLexicon, type Lexicon} from './lexicon.js'
import {type RefineContext, refine} from './refine.js'

/** What becomes of a raw transcript. */
export interface FinishContext extends RefineContext {
  lexicon: Lexicon
  hotwords: readonly string[]
  /** Whether the words of the lexicon and the hotwords decide among candidates. */
  contextualBias: boolean
  maxBiasPhrases: number
  /** Chooses the candidate that makes sense as code, where somebody knows. */
  rank?: ((candidates: readonly string[]) => number | undefined) | undefined
}

export interface FinishedText {
  rawText: string
  /** Refined, with the words of the lexicon, and the best of the candidates. */
  refinedText: string
  /** 0 to 1, after the corrections; not acoustic. */
  confidence: number
  trace: readonly Correction[]
  /** All candidates, best first; only where there is more than one. */
  nBest: readonly string[] | undefined
}

/**
 * From what was heard to what is meant: refinement, the lexicon, and the choice among ways to write it.
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

/** A piece of a transcript, refined by itself: what belongs to whole sentences is left to the whole. */
export const finishFragment = (raw: string, context: FinishContext): string =>
  applyLexicon(refine(raw, {...context, fragment: true}).text, context.lexicon)
