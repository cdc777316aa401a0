import {nearest, SvcError} from '../../errors/index.js'
import type {LanguageGuess, SpeechModelDescription} from '../model/model.js'
import {fourDecimals} from './confidence.js'
import {languageCode, languageWords} from './languages.js'

export type LanguageNote =
  | 'language_hint_length_out_of_range'
  | 'language_hint_invalid_charset'
  /** `en-us` was interpreted as `en`. */
  | 'language_hint_region_stripped'
  /** `german` was interpreted as `de`. */
  | 'language_hint_name_mapped'
  | 'language_hint_ignored_english_only_model'
  | 'language_hint_unsupported'

/** Interpretation of a language hint; part of the results of transcribe and listen. */
export interface LanguageDiagnostics {
  /** The hint as specified; null without one. */
  raw: string | null
  /** Code of the language; null if the hint cannot be used. */
  normalized: string | null
  notes: LanguageNote[]
  /** Code of the language that the model detected. */
  detected?: string
  /** 0 to 1. */
  detected_probability?: number
}

export interface LanguageHint {
  diagnostics: LanguageDiagnostics
  /** Language for the model; undefined lets the model decide. */
  language: string | undefined
  /** A valid hint for a language that the model does not support. */
  unsupported?: string
}

/** Hint of other tools for automatic detection. */
const detected = 'auto'

/** Interprets a hint for a model with these languages. Never fails; problems become notes. */
export function readLanguageHint(hint: string | null | undefined, languages: readonly string[]): LanguageHint {
  // A locale of POSIX, such as de_DE, is de-de.
  const given = (hint ?? '').trim().toLowerCase().replaceAll('_', '-')
  if (given === '') return {diagnostics: {raw: null, normalized: null, notes: []}, language: undefined}
  const raw = hint ?? null
  const faults = languageCode(given) === undefined ? faultsOf(given) : []
  if (faults.length > 0 || given === detected)
    return {diagnostics: {raw, normalized: null, notes: faults}, language: undefined}
  const {code, notes} = codeOf(given, languages)
  if (languages.includes(code)) return {diagnostics: {raw, normalized: code, notes}, language: code}
  const english = languages.length === 1 && languages[0] === 'en'
  const note = english ? 'language_hint_ignored_english_only_model' : 'language_hint_unsupported'
  return {
    diagnostics: {raw, normalized: null, notes: [...notes, note]},
    language: undefined,
    unsupported: given,
  }
}

/**
 * Interprets a hint; fails if the model does not support the language.
 * @param isStrict also fails if the hint cannot be a language; otherwise, the diagnostics report that
 * @throws language_unsupported
 */
export function requireLanguage(
  hint: string | null | undefined,
  {name, languages}: Pick<SpeechModelDescription, 'name' | 'languages'>,
  {isStrict = false}: {isStrict?: boolean} = {},
): LanguageHint {
  const read = readLanguageHint(hint, languages)
  const {raw, notes} = read.diagnostics
  const refused = read.unsupported ?? (isStrict && read.language === undefined && notes.length > 0 ? raw : undefined)
  if (refused === undefined || refused === null) return read
  throw new SvcError('language_unsupported', {
    language: refused.slice(0, 40),
    model: name,
    known: languages,
    suggestion: suggestionFor(refused.toLowerCase(), languages),
  })
}

/** Adds the detected language to the diagnostics. */
export const withDetection = (
  diagnostics: LanguageDiagnostics,
  {language, probability}: LanguageGuess,
): LanguageDiagnostics => ({...diagnostics, detected: language, detected_probability: fourDecimals(probability)})

function faultsOf(given: string): LanguageNote[] {
  const tests: readonly [sound: boolean, note: LanguageNote][] = [
    [given.length >= 2 && given.length <= 16, 'language_hint_length_out_of_range'],
    [/^[a-z0-9-]*$/.test(given), 'language_hint_invalid_charset'],
  ]
  return tests.filter(([sound]) => !sound).map(([, note]) => note)
}

/** Codes of the model take precedence, because a model may support languages that are not in the table. */
function codeOf(given: string, languages: readonly string[]): {code: string; notes: LanguageNote[]} {
  const base = given.split('-')[0] ?? ''
  const known = (word: string) => (languages.includes(word) ? word : languageCode(word))
  const whole = known(given)
  const code = whole ?? known(base) ?? given
  const used = whole === undefined && code !== given ? base : given
  return {
    code,
    notes: [
      ...(used === given ? [] : (['language_hint_region_stripped'] as const)),
      ...(code === used ? [] : (['language_hint_name_mapped'] as const)),
    ],
  }
}

/** Returns the most similar supported language name; two-letter codes are too short for a suggestion. */
function suggestionFor(given: string, languages: readonly string[]): string | undefined {
  if (given.length <= 3 || languageCode(given) !== undefined) return undefined
  const names = languageWords.filter((word) => word.length > 3 && languages.includes(languageCode(word) ?? ''))
  return nearest(given, names)
}
