import {joinWord, type WrittenWord} from './written-word.js'

/** Paths, file names, numbers: spelling matters there, and no rule knows it. */
const technical = /[/\\.0-9]/

/** Whether rules leave a word alone: one of the caller's, a flag, or one that looks technical. */
export function isProtected(word: WrittenWord, callers: ReadonlySet<string> = new Set()): boolean {
  const written = joinWord(word)
  const {core} = word
  return (
    technical.test(core) || core.startsWith('--') || written.includes('::') || callers.has(core) || callers.has(written)
  )
}
