import type {Draft, Protects} from './correction.js'
import type {Lexicon} from './lexicon.js'
import {domainLexicons, type SpeechDomain} from './refine-rules.js'
import {closesSentence, joinWord, type WrittenWord, wordKey} from './written-word.js'

/** Spellings of known words by their lower case. */
export type CaseRules = ReadonlyMap<string, string>

/**
 * Returns the spellings of a domain and of the lexicon, which takes precedence. Words of the lexicon apply only if they
 * are unambiguous: `mesh` or `getUser`, but not `IT` or `Will`, which would replace `it` and `will`.
 */
export function caseRules(domain: SpeechDomain | undefined, lexicon: Lexicon | undefined): CaseRules {
  const own = (lexicon?.entries ?? []).map(({canonical}) => canonical).filter(isUnmistakable)
  const known = [...(domain === undefined ? [] : domainLexicons[domain]), ...own.reverse()]
  return new Map(known.map((word) => [word.normalize('NFC').toLowerCase(), word.normalize('NFC')]))
}

const isUnmistakable = (word: string) =>
  !/\s/u.test(word) && (word === word.toLowerCase() || /\p{Ll}\p{Lu}/u.test(word))

/** Applies the spellings. A capital at the start of a sentence is kept. */
export function writeCase({words, trace}: Draft, rules: CaseRules, protects: Protects): Draft {
  const corrections = [...trace]
  const spelled = words.map((word, i) => {
    const before = words[i - 1]
    const spelling = rules.get(wordKey(word))
    if (spelling === undefined || protects(word) || word.core.normalize('NFC') === spelling) return word
    const begins = before === undefined || closesSentence(before)
    if (begins && isCapitalised(word) && spelling === spelling.toLowerCase()) return word
    const after = {...word, core: spelling}
    corrections.push({
      rule: 'domain_lexicon_case',
      before: joinWord(word),
      after: joinWord(after),
      reason: 'spelling of a known word',
    })
    return after
  })
  return {words: spelled, trace: corrections}
}

/** True if only the first letter is a capital. */
const isCapitalised = ({core}: WrittenWord) => /^\p{Lu}\P{Lu}*$/u.test(core)
