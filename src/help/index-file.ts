import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import MiniSearch from 'minisearch'
import {packageRoot} from '../files/index.js'
import {kindOf, type Passage, type Place, placeOf} from './passages.js'
import {termsOf} from './terms.js'

/** The searchable documentation of this version of svc. */
export interface HelpIndex {
  /** Where each passage is, by its number in `words`. */
  places: readonly Place[]
  words: MiniSearch
}

interface Stored {
  places: readonly Place[]
  words: ReturnType<MiniSearch['toJSON']>
}

const file = join(packageRoot, 'dist/bundle/help.json')

/** How the index is made and read, which must be the same. */
const options = {
  fields: ['title', 'section', 'asked', 'text'],
  tokenize: termsOf,
  processTerm: (term: string) => term,
  // A query is one term.
  searchOptions: {tokenize: (term: string) => [term]},
}

/** The words that people use for what a passage is about, by its key. */
export type AlsoAsked = Readonly<Record<string, readonly string[]>>

/** Name of a passage in the list of other words: `docs/PAGE.md#HEADING`, or the command that prints it. */
export const keyOf = ({page, headings}: Place): string =>
  kindOf(page) === 'page' ? `${page}#${headings.at(-1)}` : page

/** Indexes passages by title, heading and text. */
export function indexPassages(passages: readonly Passage[], asked: AlsoAsked): HelpIndex {
  const words = new MiniSearch(options)
  words.addAll(
    passages.map(({page, headings, text}, id) => ({
      id,
      title: headings.slice(0, -1).join(' '),
      section: headings.at(-1),
      asked: asked[keyOf({page, headings})]?.join('\n'),
      text,
    })),
  )
  return {places: passages.map(placeOf), words}
}

export async function writeIndex({places, words}: HelpIndex): Promise<void> {
  const stored: Stored = {places, words: words.toJSON()}
  await writeFile(file, JSON.stringify(stored))
}

export async function readIndex(): Promise<HelpIndex> {
  const {places, words} = JSON.parse(await readFile(file, 'utf8')) as Stored
  return {places, words: MiniSearch.loadJS(words, options)}
}
