import {joinWord, type WrittenWord} from './written-word.js'

/** Paths, file names and numbers, whose spelling matters. */
const technical = /[/\\.0-9]/

/** True if rules must not change a word: protected by the caller, a flag, or technical by its form. */
export function isProtected(word: WrittenWord, callers: ReadonlySet<string> = new Set()): boolean {
  const written = joinWord(word)
  const {core} = word
  return (
    technical.test(core) || core.startsWith('--') || written.includes('::') || callers.has(core) || callers.has(written)
  )
}
