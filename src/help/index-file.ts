import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import MiniSearch from 'minisearch'
import {packageRoot} from '../files/index.js'
import {linksOf} from './links.js'
import type {Commands} from './manifest.js'
import {kindOf, type Passage, type Place, placeOf} from './passages.js'
import {rarityOf, termsOf} from './terms.js'

/** A short text: a heading, or a question that a passage answers. */
export interface Phrase {
  /** Terms without repeats. */
  terms: readonly string[]
  /** Sum of the rarities of the terms. */
  rarity: number
}

/** The searchable documentation of this version of svc. */
export interface HelpIndex {
  /** Where each passage is, by its number in `words`. */
  places: readonly Place[]
  /** The heading of each passage, and what people ask for it. */
  phrases: readonly (readonly Phrase[])[]
  /** The passages that are about the same thing as each passage, by their numbers. */
  links: readonly (readonly number[])[]
  words: MiniSearch
}

interface Stored {
  places: readonly Place[]
  /** The terms of each phrase, separated by blanks, and their rarity. */
  phrases: readonly (readonly [terms: string, rarity: number])[][]
  links: readonly (readonly number[])[]
  words: ReturnType<MiniSearch['toJSON']>
}

const file = join(packageRoot, 'dist/bundle/help.json')

/** How the index is made and read, which must be the same. */
const options = {
  fields: ['title', 'section', 'text'],
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

/** Indexes passages by title, heading and text, and by what people ask. */
export function indexPassages(passages: readonly Passage[], asked: AlsoAsked, commands: Commands): HelpIndex {
  const words = new MiniSearch(options)
  words.addAll(
    passages.map(({headings, text}, id) => ({
      id,
      title: headings.slice(0, -1).join(' '),
      section: headings.at(-1),
      text,
    })),
  )
  const frequency = new Map<string, number>()
  const known = passages.map((passage) => {
    const phrases = [passage.headings.at(-1) ?? '', ...(asked[keyOf(passage)] ?? [])].map(uniqueTerms)
    for (const term of new Set([passage.headings.join(' '), passage.text].flatMap(termsOf).concat(phrases.flat())))
      frequency.set(term, (frequency.get(term) ?? 0) + 1)
    return phrases
  })
  const rarity = (term: string) => rarityOf(passages.length, frequency.get(term) ?? 0)
  const phrases = known.map((list) =>
    list.map((terms) => ({terms, rarity: Number(terms.reduce((sum, term) => sum + rarity(term), 0).toFixed(1))})),
  )
  return {places: passages.map(placeOf), phrases, links: linksOf(passages, commands), words}
}

const uniqueTerms = (text: string): string[] => [...new Set(termsOf(text))]

export async function writeIndex({places, phrases, links, words}: HelpIndex): Promise<void> {
  const short = phrases.map((list) => list.map(({terms, rarity}) => [terms.join(' '), rarity] as const))
  const stored: Stored = {places, phrases: short, links, words: words.toJSON()}
  await writeFile(file, JSON.stringify(stored))
}

export async function readIndex(): Promise<HelpIndex> {
  const {places, phrases: short, links, words} = JSON.parse(await readFile(file, 'utf8')) as Stored
  const phrases = short.map((list) => list.map(([terms, rarity]) => ({terms: terms.split(' '), rarity})))
  return {places, phrases, links, words: MiniSearch.loadJS(words, options)}
}
