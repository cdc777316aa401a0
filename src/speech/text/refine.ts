import {type RefineProfile, type RefineSettings, refineConfidence} from './confidence.js'
import type {Correction, Draft, Protects} from './correction.js'
import {removeDisfluencies} from './disfluencies.js'
import type {Lexicon} from './lexicon.js'
import {caseRules, writeCase} from './lexicon-case.js'
import {replacePhrases} from './phrases.js'
import {isProtected} from './protected-words.js'
import {confusionTables, phraseTable, type SpeechDomain} from './refine-rules.js'
import {closeText, startSentences} from './sentences.js'
import {joinWords, splitWords} from './written-word.js'

export interface RefineContext {
  profile: RefineProfile
  domain: SpeechDomain
  settings: RefineSettings
  /** Words of the user; optional. */
  lexicon?: Lexicon | undefined
  /** Words that rules must not change. */
  protectedWords?: ReadonlySet<string> | undefined
  /**
   * Code of the spoken language. Fillers and repetitions are supported for English only; undefined counts as English.
   */
  language?: string | undefined
  /** Words of this domain are not replaced by similar-sounding words. */
  dysarthric?: boolean | undefined
  /** The text is a part of a longer one, so its start and end are not sentence boundaries. */
  fragment?: boolean | undefined
}

export interface Refined {
  text: string
  /** Confidence, 0 to 1, lower with each correction. */
  confidence: number
  trace: Correction[]
}

type Stage = (draft: Draft) => Draft

/**
 * Refines a transcript: spacing, common misrecognitions, spelling of known words. The profile `conservative` applies
 * only the lexicon to words; `aggressive` also removes fillers and repetitions and writes sentences. Refining twice
 * gives the same result as refining once.
 */
export function refine(raw: string, context: RefineContext): Refined {
  const trimmed = trim(raw)
  const draft = stagesOf(context).reduce((current, stage) => stage(current), trimmed)
  return {
    text: joinWords(draft.words),
    confidence: refineConfidence(context.profile, draft.trace.length, context.settings),
    trace: [...draft.trace],
  }
}

function trim(raw: string): Draft {
  const words = splitWords(raw)
  const text = joinWords(words)
  const reason = 'whitespace collapsed'
  return {words, trace: text === raw ? [] : [{rule: 'light_trim', before: raw, after: text, reason}]}
}

function stagesOf(context: RefineContext): Stage[] {
  const protects: Protects = (word) => isProtected(word, context.protectedWords)
  const wordStages = wordStagesOf(context, protects)
  const words: Stage = (draft) => wordStages.reduce((current, stage) => stage(current), draft)
  if (context.profile !== 'aggressive') return [words]
  const english = (context.language || 'en') === 'en'
  const spoken = english ? untilNothingGoes((draft) => removeDisfluencies(draft, protects), words) : words
  if (context.fragment) return [spoken]
  return [spoken, (draft) => startSentences(draft, protects, context.language), (draft) => closeText(draft, protects)]
}

/** Removing a word can create a phrase, and replacing a phrase a repetition, so the rules repeat. */
function untilNothingGoes(remove: Stage, replace: Stage): Stage {
  return (draft) => {
    let current = replace(remove(draft))
    for (;;) {
      const removed = remove(current)
      if (removed.words.length === current.words.length) return current
      current = replace(removed)
    }
  }
}

/** Rules for words and phrases, in order. */
function wordStagesOf({profile, domain, lexicon, dysarthric}: RefineContext, protects: Protects) {
  const rules = caseRules(profile === 'conservative' ? undefined : domain, lexicon)
  const spell: Stage = (draft) => writeCase(draft, rules, protects)
  if (profile === 'conservative') return [spell]
  const heard: Stage = (draft) =>
    replacePhrases(draft, confusionTables[domain], protects, 'confusion_map', 'sounds like a known word')
  const shorten: Stage = (draft) =>
    replacePhrases(draft, phraseTable, protects, 'phrase_canonicalization', 'name of the product')
  return [...(dysarthric ? [] : [heard]), spell, shorten]
}
