import type {ManifestEntry} from '../../contracts/index.js'
import {wordsOf} from './clauses.js'

/** Extensions that make a word with a `/` a file path. */
const extensions = new Set(
  (
    'c cc cfg conf cpp cs css csv env go gql h hpp html ini java js json jsonl jsx kt lock lua md mdx mjs cjs mts php proto ' +
    'ps1 py rb rs scss sh sql svc svelte svg swift tf toml ts tsx txt vue wasm xml yaml yml zig'
  ).split(' '),
)

/** First folders that make a word with a `/` a workspace path. */
const folders = new Set(
  (
    'app apps assets benches bin cmd commands config configs contracts crates docs examples include internal lib libs man ' +
    'migrations packages pkg public schemas scripts spec src styles test tests tools .github .svc'
  ).split(' '),
)

const change = /\b(?:fix|edit|chang|add|implement|updat|refactor|writ|creat|delet|remov|patch)(?:e?s|e?d|es|ing|e)?\b/i

/** True if a text asks for a change. */
export const asksForChange = (text: string): boolean => change.test(text)

/** Paths in a text: words with a `/` and a known extension or first folder, without duplicates, in order. */
export function pathsIn(text: string): string[] {
  const words = wordsOf(text).filter((word) => word.length <= maxPathLength)
  return [...new Set(words.map(bare).filter(isPath))]
}

/** A longer word is not a file path, characters. */
const maxPathLength = 4096

/** Removes quotes, punctuation and slashes around a word, and a position in a file (`:12:3`). */
const bare = (word: string): string =>
  word
    .replace(/^[`'"“(<[{]+/, '')
    .replace(/[`'"”)>\]},;:!?.]+$/, '')
    .replace(/(?::\d+){1,2}$/, '')
    .replace(/^\.\//, '')
    .replace(/\/+$/, '')

function isPath(word: string): boolean {
  if (!word.includes('/') || word.includes('://') || word.startsWith('/') || word.startsWith('~')) return false
  const parts = word.split('/')
  if (parts.includes('..')) return false
  const ending = /\.([a-z0-9]+)$/i.exec(parts.at(-1) ?? '')?.[1]?.toLowerCase()
  return (ending !== undefined && extensions.has(ending)) || folders.has(parts[0] ?? '')
}

/** The files of a goal, relative to the root, indexed by name. */
export interface Scope {
  paths: readonly string[]
  byName: ReadonlyMap<string, readonly number[]>
}

/** Builds the index once per goal. */
export function scopeOf(paths: readonly string[]): Scope {
  const byName = new Map<string, number[]>()
  for (const [place, path] of paths.entries()) {
    const name = path.split('/').at(-1)?.toLowerCase() ?? ''
    for (const each of new Set([name, name.replace(/\.[^.]+$/, '')])) {
      const places = byName.get(each)
      if (places === undefined) byName.set(each, [place])
      else places.push(place)
    }
  }
  return {paths, byName}
}

/** Maximum number of scope files for a step without files of its own; a longer list is not specific to the step. */
const maxScopeFiles = 64

/**
 * The files of one step: the paths that it names, with write access if it asks for a change. If there are none, the
 * scope files whose names it mentions. If there are none of these either, read access to the scope.
 */
export function filesOf(description: string, scope: Scope): ManifestEntry[] {
  const access = asksForChange(description) ? 'write' : 'read'
  const named = pathsIn(description)
  const meant = named.length > 0 ? named : mentioned(description, scope)
  if (meant.length > 0) return meant.map((path) => ({path, access}))
  const {paths} = scope
  return paths.length <= maxScopeFiles ? paths.map((path) => ({path, access: 'read' as const})) : []
}

/** Files whose name, with or without extension, is a word of the text. Names shared by many files do not count. */
function mentioned(text: string, {paths, byName}: Scope): string[] {
  const short = wordsOf(text.toLowerCase()).filter((word) => word.length <= maxPathLength)
  const places = new Set(
    short.flatMap((word) => {
      const meant = byName.get(bare(word)) ?? []
      return meant.length <= maxScopeFiles ? meant : []
    }),
  )
  return [...places].toSorted((a, b) => a - b).map((place) => paths[place] as string)
}
