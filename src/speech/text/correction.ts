import type {WrittenWord} from './written-word.js'

export type RefineRule =
  | 'light_trim'
  | 'filler_removal'
  | 'repetition_removal'
  | 'confusion_map'
  | 'domain_lexicon_case'
  | 'phrase_canonicalization'
  | 'aggressive_case'
  | 'final_punctuation'

/** One change of a transcript. */
export interface Correction {
  rule: RefineRule
  before: string
  after: string
  reason: string
}

/** The words of a transcript and the corrections so far. */
export interface Draft {
  words: readonly WrittenWord[]
  trace: readonly Correction[]
}

/** True if no rule may change the word. */
export type Protects = (word: WrittenWord) => boolean
