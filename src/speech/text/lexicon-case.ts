import type {Draft, Protects} from './correction.js'
import type {Lexicon} from './lexicon.js'
import {domainLexicons, type SpeechDomain} from './refine-rules.js'
import {closesSentence, joinWord, type WrittenWord, wordKey} from './written-word.js'

/** How known words are spelled, by their lower case. */
export type CaseRules = ReadonlyMap<string, string>

/**
 * The spellings of a domain and of a user's lexicon, which goes first. A user's word counts where its spelling cannot be
 * taken for an ordinary one: `mesh` or `getUser`, but not `IT` or `Will`, which would spoil `it` and `will`.
 */
export function caseRules(domain: SpeechDomain | undefined, lexicon: Lexicon | undefined): CaseRules {
  const own = (lexicon?.entries ?? []).map(({canonical}) => canonical).filter(isUnmistakable)
  const known = [...(domain === undefined ? [] : domainLexicons[domain]), ...own.reverse()]
  return new Map(known.map((word) => [word.normalize('NFC').toLowerCase(), word.normalize('NFC')]))
}

const isUnmistakable = (word: string) =>
  !/\s/u.test(word) && (word === word.toLowerCase() || /\p{Ll}\p{Lu}/u.test(word))

/** Spells known words as the rules say. A capital that begins a sentence stays. */
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

/** One capital, at the beginning. */
const isCapitalised = ({core}: WrittenWord) => /^\p{Lu}\P{Lu}*$/u.test(core)
