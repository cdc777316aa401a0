import type {Draft, Protects} from './correction.js'
import {fillers, repeatable} from './refine-rules.js'
import {closesSentence, joinWord, type WrittenWord, wordKey} from './written-word.js'

/** Removes fillers, then accidental repetitions. A text that consists of fillers is kept. */
export const removeDisfluencies = (draft: Draft, protects: Protects): Draft =>
  removeRepetitions(removeFillers(draft, protects), protects)

function removeFillers({words, trace}: Draft, protects: Protects): Draft {
  const capitals = isInCapitals(words)
  const isFiller = (word: WrittenWord) =>
    fillers.has(wordKey(word)) &&
    !protects(word) &&
    // Quotes and brackets come in pairs.
    word.lead === '' &&
    /^[.,;:!?…]*$/u.test(word.trail) &&
    // In a text with normal capitalisation, ER and HMM are abbreviations.
    (capitals || !isUpper(word))
  if (words.every(isFiller)) return {words, trace}
  const kept: WrittenWord[] = []
  const corrections = [...trace]
  for (const word of words) {
    if (!isFiller(word)) kept.push(word)
    else {
      corrections.push({rule: 'filler_removal', before: joinWord(word), after: '', reason: 'hesitation'})
      const previous = kept.pop()
      if (previous !== undefined) kept.push(closesSentence(word) ? closedLike(previous, word) : previous)
    }
  }
  return {words: kept, trace: corrections}
}

/** Moves the punctuation at the end of a sentence to the previous word, unless that ends a sentence itself. */
function closedLike(word: WrittenWord, {trail}: WrittenWord): WrittenWord {
  return /^[,;:]*$/.test(word.trail) && word.core !== '' ? {...word, trail} : word
}

function removeRepetitions({words, trace}: Draft, protects: Protects): Draft {
  const capitals = isInCapitals(words)
  const kept: WrittenWord[] = []
  const corrections = [...trace]
  for (const word of words) {
    const previous = kept.at(-1)
    if (previous === undefined || protects(word) || !isRepeated(previous, word, capitals)) kept.push(word)
    else {
      const after = {...previous, trail: word.trail}
      const before = `${joinWord(previous)} ${joinWord(word)}`
      corrections.push({rule: 'repetition_removal', before, after: joinWord(after), reason: 'word said twice'})
      kept[kept.length - 1] = after
    }
  }
  return {words: kept, trace: corrections}
}

/**
 * True if the second word is an accidental repetition: the same word, only letters, without punctuation between. Names
 * (`Walla Walla`) and spelled letters (`w w w`) are not.
 */
function isRepeated(first: WrittenWord, second: WrittenWord, capitals: boolean): boolean {
  const key = wordKey(second)
  if (key !== wordKey(first) || repeatable.has(key) || !/^[\p{L}\p{M}'’]+$/u.test(key)) return false
  if (first.trail !== '' || second.lead !== '') return false
  if (letters(key) === 1) return key === 'i' || (key === 'a' && second.core === 'a')
  return capitals || !/^\p{Lu}/u.test(second.core)
}

const letters = (text: string) => text.match(/\p{L}/gu)?.length ?? 0

const isUpper = ({core}: WrittenWord) => letters(core) > 1 && /\p{Lu}/u.test(core) && !/\p{Ll}/u.test(core)

/** True if all longer words of the text are in capitals, as some recognisers write. */
function isInCapitals(words: readonly WrittenWord[]): boolean {
  const longer = words.filter((word) => letters(word.core) > 1 && !fillers.has(wordKey(word)))
  return longer.length > 0 && longer.every(isUpper)
}
