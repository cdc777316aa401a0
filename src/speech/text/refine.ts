import {type RefineProfile, type RefineSettings, refineConfidence} from './confidence.js'
import type {Correction, Draft, Protects} from './correction.js'
import {removeDisfluencies} from './disfluencies.js'
import {joinTexts} from './join-texts.js'
import type {Lexicon} from './lexicon.js'
import {caseRules, writeCase} from './lexicon-case.js'
import {replacePhrases} from './phrases.js'
import {isProtected} from './protected-words.js'
import {confusionTables, phraseTable, type SpeechDomain} from './refine-rules.js'
import {closeText, startSentences} from './sentences.js'
import {joinWords, splitWords, type WrittenWord} from './written-word.js'

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
}

export interface Refined {
  text: string
  /** Confidence, 0 to 1, lower with each correction. */
  confidence: number
  trace: Correction[]
}

/** A refined text in segments. */
export interface RefinedSegments extends Omit<Refined, 'text'> {
  texts: string[]
}

type Stage = (draft: Draft) => Draft

/**
 * Refines a transcript: spacing, common misrecognitions, spelling of known words. The profile `conservative` applies
 * only the lexicon to words; `aggressive` also removes fillers and repetitions and writes sentences. Refining twice
 * gives the same result as refining once.
 */
export function refine(raw: string, context: RefineContext): Refined {
  const {texts, ...refined} = refineSegments([raw], context)
  return {text: texts.join(' '), ...refined}
}

/**
 * True if the text of a segment depends on the segments after it, so that it is not final before the end: a sentence or
 * a program can span segments.
 */
export const needsAllSegments = ({profile, domain}: Pick<RefineContext, 'profile' | 'domain'>): boolean =>
  profile === 'aggressive' || domain === 'code'

/** Refines the segments of a transcript, each on its own unless `needsAllSegments`. */
export function refineSegments(raws: readonly string[], context: RefineContext): RefinedSegments {
  const refineWords = stageOf(context)
  const segments = raws.map((raw, segment) => splitWords(raw).map((word) => ({...word, segment})))
  const drafts = (needsAllSegments(context) ? [segments.flat()] : segments).map((words) =>
    refineWords({words, trace: []}),
  )
  const refined = raws.map((): WrittenWord[] => [])
  for (const word of drafts.flatMap(({words}) => words)) refined[word.segment ?? 0]?.push(word)
  const trace = [...trimTrace(joinTexts(raws)), ...drafts.flatMap((draft) => draft.trace)]
  return {
    texts: refined.map(joinWords),
    confidence: refineConfidence(context.profile, trace.length, context.settings),
    trace,
  }
}

function trimTrace(raw: string): Correction[] {
  const text = joinWords(splitWords(raw))
  return text === raw ? [] : [{rule: 'light_trim', before: raw, after: text, reason: 'whitespace collapsed'}]
}

function stageOf(context: RefineContext): Stage {
  const protects: Protects = (word) => isProtected(word, context.protectedWords)
  const stages = wordStagesOf(context, protects)
  const words: Stage = (draft) => stages.reduce((current, stage) => stage(current), draft)
  if (context.profile !== 'aggressive') return words
  const english = (context.language || 'en') === 'en'
  const spoken = english ? untilNothingGoes((draft) => removeDisfluencies(draft, protects), words) : words
  return (draft) => closeText(startSentences(spoken(draft), protects, context.language), protects)
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
