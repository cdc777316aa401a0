import {protectedWords} from '../../speech/index.js'
import type {Unpolished} from './request.js'

/** Bounds of the size of a corrected text, bytes: within them, five times the size of the transcript. */
const minBytes = 1024
const maxBytes = 32_768

/** Number of separators of a kind that a correction may remove. */
const maxRemoved = 2

/**
 * True if a correction has the size and the symbols of the transcript. It is not much longer and has no new control
 * characters. At most two of `::`, of `--` and of the path separators are missing.
 */
export function isPlausible(corrected: string, {rawText, refinedText}: Unpolished): boolean {
  const max = Math.min(maxBytes, Math.max(minBytes, 5 * Buffer.byteLength(refinedText)))
  if (Buffer.byteLength(corrected) > max || corrected.length > 3 * rawText.length + 20) return false
  const unsafe = corrected.match(/\p{Cc}|\p{Cs}/gu) ?? []
  if (unsafe.some((character) => !refinedText.includes(character))) return false
  return [/::/g, /--/g, /[/\\]/g].every((mark) => count(refinedText, mark) - count(corrected, mark) <= maxRemoved)
}

const count = (text: string, mark: RegExp) => text.match(mark)?.length ?? 0

/**
 * Returns a protected word of the transcript that occurs less often in the correction; undefined if there is none.
 * Protected words are those that refinement does not change, such as flags, paths, URLs, names with `::` or `.`, and
 * numbers.
 */
export function lostWord(corrected: string, {refinedText}: Unpolished): string | undefined {
  const left = new Map<string, number>()
  for (const word of protectedWords(corrected)) left.set(word, (left.get(word) ?? 0) + 1)
  return protectedWords(refinedText).find((word) => {
    const rest = (left.get(word) ?? 0) - 1
    left.set(word, rest)
    return rest < 0
  })
}
