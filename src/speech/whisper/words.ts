import type {Tokenizer} from '../../text/index.js'
import type {WordTiming} from '../model/model.js'

/** A word and its number of tokens. */
export interface SpelledWord {
  word: string
  tokens: number
}

/** Languages without spaces between words: each character counts as a word. */
const unspacedLanguages = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue'])

const utf8 = new TextDecoder('utf-8', {fatal: true})

/**
 * Splits tokens into words at spaces and punctuation, or into characters. A token that ends within a character is joined
 * with the next one.
 */
export function splitWords(
  tokenizer: Pick<Tokenizer, 'bytes'>,
  tokens: readonly number[],
  language: string,
): SpelledWord[] {
  const pieces = splitCharacters(tokenizer, tokens)
  if (unspacedLanguages.has(language)) return pieces
  const words: SpelledWord[] = []
  for (const piece of pieces) {
    const last = words.at(-1)
    const begins = piece.word.startsWith(' ') || isPunctuation(piece.word) || last === undefined
    if (begins) words.push({...piece})
    else {
      last.word += piece.word
      last.tokens += piece.tokens
    }
  }
  return words
}

const isPunctuation = (text: string) => /^[!-/:-@[-`{-~]$/.test(text.trim())

/** Groups tokens into the smallest groups that decode to complete characters. */
function splitCharacters(tokenizer: Pick<Tokenizer, 'bytes'>, tokens: readonly number[]): SpelledWord[] {
  const pieces: SpelledWord[] = []
  let pending: Buffer[] = []
  for (const token of tokens) {
    pending.push(tokenizer.bytes(token))
    const word = decodeComplete(Buffer.concat(pending))
    if (word === undefined) continue
    pieces.push({word, tokens: pending.length})
    pending = []
  }
  if (pending.length > 0) pieces.push({word: Buffer.concat(pending).toString('utf8'), tokens: pending.length})
  return pieces
}

function decodeComplete(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Punctuation that is joined to the next word, and to the previous word. */
const opening = '"\'“¿([{-'
const closing = '"\'.。,，!！?？:：”)]}、'

/** Joins punctuation to words. A word keeps its own times. */
export function attachPunctuation(words: readonly WordTiming[]): WordTiming[] {
  const forward: WordTiming[] = []
  for (const word of [...words].reverse()) {
    const next = forward.at(-1)
    const opens = word.word.startsWith(' ') && opening.includes(word.word.trim())
    if (next !== undefined && opens) forward[forward.length - 1] = {...next, word: word.word + next.word}
    else forward.push(word)
  }
  const joined: WordTiming[] = []
  for (const word of forward.reverse()) {
    const before = joined.at(-1)
    if (before !== undefined && !before.word.endsWith(' ') && word.word !== '' && closing.includes(word.word))
      joined[joined.length - 1] = {...before, word: before.word + word.word}
    else joined.push(word)
  }
  return joined
}

const sentenceEnds = '.。!！?？'

/** Upper bound of the median word length, seconds. */
const maxMedianSec = 0.7

/**
 * Limits words at sentence boundaries to twice the median length, because they tend to include the pause.
 * Source: the heuristics of openai/whisper.
 */
export function trimAtSentenceEnds(words: readonly WordTiming[]): WordTiming[] {
  const limit = 2 * medianSec(words)
  if (limit === 0) return [...words]
  return words.map((word, i) => {
    const before = words[i - 1]
    if (before === undefined || word.endSec - word.startSec <= limit) return word
    if (isEnd(word)) return {...word, endSec: word.startSec + limit}
    return isEnd(before) ? {...word, startSec: word.endSec - limit} : word
  })
}

const isEnd = ({word}: WordTiming) => word !== '' && sentenceEnds.includes(word)

/** Median length of the words with a length above 0, at most 0.7 s. */
export function medianSec(words: readonly WordTiming[]): number {
  const lengths = words.map(({startSec, endSec}) => endSec - startSec).filter((length) => length > 0)
  lengths.sort((a, b) => a - b)
  return Math.min(maxMedianSec, lengths[lengths.length >> 1] ?? 0)
}
