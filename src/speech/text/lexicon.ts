import {readFile} from 'node:fs/promises'
import {join} from 'node:path'

/** A word of the user and its misrecognitions. */
export interface LexiconEntry {
  canonical: string
  /** Misrecognised words or phrases, in lower case. */
  aliases: readonly string[]
  /** Pronunciation, as a hint for the model. */
  pronunciationHints: readonly string[]
}

/** Entries by precedence: the first one with an alias applies. */
export interface Lexicon {
  entries: readonly LexiconEntry[]
}

/** A lexicon file that was read. */
export interface LexiconSource {
  path: string
  /** Number of entries; undefined if the file is unusable. */
  entries?: number
  /** Reason why the file is unusable. */
  fault?: string
}

/** Maximum size of a lexicon, bytes. */
const maxBytes = 4 << 20

/**
 * Reads the specified lexicon, then that of the repository; the first one takes precedence. An unusable file is
 * reported as a fault, and speech recognition continues without it.
 */
export async function loadLexicons(
  named: string | undefined,
  repository: string | undefined,
): Promise<{lexicon: Lexicon; sources: LexiconSource[]}> {
  const own = repository === undefined ? [] : [{path: join(repository, '.svc', 'speech_lexicon.json'), optional: true}]
  const files = [...(named === undefined ? [] : [{path: named, optional: false}]), ...own]
  const entries: LexiconEntry[] = []
  const sources: LexiconSource[] = []
  for (const {path, optional} of files) {
    try {
      const read = parseLexicon(await readText(path))
      entries.push(...read.entries)
      sources.push({path, entries: read.entries.length})
    } catch (error) {
      const {code, message} = error as NodeJS.ErrnoException
      if (!(optional && code === 'ENOENT')) sources.push({path, fault: message.replace(/\.$/, '')})
    }
  }
  return {lexicon: {entries}, sources}
}

async function readText(path: string): Promise<string> {
  const bytes = await readFile(path)
  if (bytes.length > maxBytes) throw new Error(`it is larger than ${maxBytes >> 20} MiB`)
  return bytes.toString('utf8')
}

/**
 * Parses a lexicon. Entries without a canonical word are ignored; if two entries have the same alias, the later one
 * applies.
 * @throws SyntaxError, TypeError if the text is not a lexicon
 */
export function parseLexicon(text: string): Lexicon {
  const document: unknown = JSON.parse(text)
  const rows = (document as {entries?: unknown} | null)?.entries
  if (!Array.isArray(rows)) throw new TypeError('it has no list named entries')
  const entries = rows.map(entryOf).filter(({canonical}) => canonical !== '')
  // Within a file, later entries take precedence.
  return {entries: entries.reverse()}
}

function entryOf(row: unknown): LexiconEntry {
  const {canonical, aliases, pronunciation_hints: hints} = (row ?? {}) as Readonly<Record<string, unknown>>
  return {
    canonical: typeof canonical === 'string' ? canonical.trim() : '',
    aliases: strings(aliases).map((alias) => alias.toLowerCase()),
    pronunciationHints: strings(hints),
  }
}

const strings = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.filter((one) => typeof one === 'string').flatMap((one) => one.trim().split(/\s+/u).join(' ') || [])
    : []

/**
 * Replaces words and phrases of the lexicon in a text. A word is a sequence of letters, digits and `_`; the words of a
 * phrase are separated by single spaces. The longest alias at a word applies; replacements are not processed again.
 */
export function applyLexicon(text: string, lexicon: Lexicon): string {
  const table = aliasTable(lexicon)
  if (table.size === 0) return text
  const maxWords = Math.max(...Array.from(table.keys(), (alias) => alias.split(' ').length))
  const words = Array.from(text.matchAll(/[\p{L}\p{N}\p{M}_]+/gu), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }))
  let out = ''
  let copied = 0
  for (let i = 0; i < words.length; ) {
    const {length, canonical} = longestAlias(text, words.slice(i, i + maxWords), table)
    if (canonical !== undefined) {
      out += text.slice(copied, words[i]?.start) + canonical
      copied = words[i + length - 1]?.end ?? text.length
    }
    i += length
  }
  return out + text.slice(copied)
}

function longestAlias(
  text: string,
  words: readonly {start: number; end: number}[],
  table: ReadonlyMap<string, string>,
): {length: number; canonical?: string | undefined} {
  for (let length = words.length; length > 0; length--) {
    const heard = text.slice(words[0]?.start, words[length - 1]?.end)
    const canonical = table.get(heard.normalize('NFC').toLowerCase())
    if (canonical !== undefined) return {length, canonical}
  }
  return {length: 1}
}

function aliasTable({entries}: Lexicon): ReadonlyMap<string, string> {
  const table = new Map<string, string>()
  for (const {aliases, canonical} of entries)
    for (const alias of aliases) {
      const key = alias.normalize('NFC')
      if (key !== '' && !table.has(key)) table.set(key, canonical)
    }
  return table
}
