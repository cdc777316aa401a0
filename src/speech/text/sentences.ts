import type {Draft, Protects} from './correction.js'
import {closesSentence, joinWord, type WrittenWord} from './written-word.js'

/** Capitalises the first letter of each sentence. */
export function startSentences({words, trace}: Draft, protects: Protects, language: string | undefined): Draft {
  const corrections = [...trace]
  const written = words.map((word, i) => {
    const before = words[i - 1]
    const begins = before === undefined || closesSentence(before)
    const after = begins && !protects(word) ? {...word, core: capitalised(word.core, language)} : word
    if (after.core === word.core) return word
    const reason = 'begins a sentence'
    corrections.push({rule: 'aggressive_case', before: joinWord(word), after: joinWord(after), reason})
    return after
  })
  return {words: written, trace: corrections}
}

/** Languages with special case rules, such as Turkish `İ`. */
const ownCapitals = new Set(['tr', 'az', 'lt'])

/** A word with an inner capital, such as `getUser`, is not changed. */
function capitalised(core: string, language: string | undefined): string {
  const [first = ''] = core
  const rest = core.slice(first.length)
  if (!/^\p{Ll}$/u.test(first) || /\p{Lu}/u.test(rest)) return core
  const locale = language !== undefined && ownCapitals.has(language) ? language : 'en'
  const capital = first.toLocaleUpperCase(locale)
  // A letter without an upper case, such as ß, is not changed.
  return [...capital].length === 1 && capital.toLocaleLowerCase(locale) === first ? capital + rest : core
}

/** Full stop by the script of the last letter; none for unknown scripts. */
const stops: readonly (readonly [script: RegExp, mark: string])[] = [
  [/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u, '。'],
  [/\p{Script=Latin}|\p{Script=Cyrillic}|\p{Script=Greek}|\p{Script=Hangul}|\p{Script=Hebrew}|\p{Script=Arabic}/u, '.'],
]

/** Adds a full stop unless the text ends with punctuation. */
export function closeText({words, trace}: Draft, protects: Protects): Draft {
  const last = words.at(-1)
  if (last === undefined || protects(last) || last.trail !== '') return {words, trace}
  const mark = stopAfter(last.core)
  if (mark === undefined) return {words, trace}
  const closed: WrittenWord = {...last, trail: mark}
  return {
    words: [...words.slice(0, -1), closed],
    trace: [
      ...trace,
      {rule: 'final_punctuation', before: joinWord(last), after: joinWord(closed), reason: 'ends the text'},
    ],
  }
}

function stopAfter(core: string): string | undefined {
  const letter = /(\p{L})\p{M}*$/u.exec(core.slice(-16))?.[1]
  return letter === undefined ? undefined : stops.find(([script]) => script.test(letter))?.[1]
}
