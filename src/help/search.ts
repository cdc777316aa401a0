import type MiniSearch from 'minisearch'
import type {HelpIndex, Phrase} from './index-file.js'
import type {Place} from './passages.js'
import {corrected} from './spelling.js'
import {isCommon, isOtherProduct, rarityOf, synonymsOf, type Term, typedTerms} from './terms.js'

/** A passage that fits a question. */
export interface Match {
  place: Place
  /** Other passages of the page that fit nearly as well. */
  more: Place[]
  score: number
  /** Share of the question that the passage contains, by the rarity of its words: from 0 to 1. */
  coverage: number
}

/** Weights of the fields: a heading says what a passage is about. */
const boost = {title: 0.5, section: 1, text: 1}

/** Weight of another word for a word of the question, in relation to that word. */
const synonymWeight = 0.6

/** Weight of a word that was misspelled. */
const misspelledWeight = 0.8

/** Weight of a word of everyday language. */
const commonWeight = 0.5

/** Share of the score of the best passage of a page from which another one of the page is shown with it. */
const nearlyAsGood = 0.7

/** Maximum number of such passages. */
const morePlaces = 2

/** What speaks for a passage. */
export interface Evidence {
  /** Share of the question that the passage contains, by the rarity of its words: from 0 to 1. */
  coverage: number
  /** Its square. */
  full: number
  /** Similarity of the question and the heading or what else is asked, from 0 to 1: the most similar one, and the sum of two more. */
  phrase: number
  phrases: number
  /** The second and the third of the greatest of these similarities of the passages of the page, added. */
  page: number
  /** The greatest of these similarities of the passages that passages of the page name, or that name them. */
  linked: number
  /** Sum of the scores of the words (BM25). */
  words: number
}

/**
 * Fitted to the questions of `test/help/questions.json`, and to what people ask, each phrase as a question to an index without it:
 * a regression over the pages, and over the passages, that have words of a question.
 */
const weights: Evidence = {coverage: 2.1, full: 1.9, phrase: 2.2, phrases: 1, page: 1.2, linked: 3.1, words: 0.07}

/** What is found for a question. */
export interface Found {
  /** The passages that contain its words, the best of each page, and the best page first. */
  matches: Match[]
  /** What each of its terms, or another word for it, says about a text. */
  values: ReadonlyMap<string, number>
}

export function search(index: HelpIndex, question: string): Found {
  const {evidence, values} = evidenceFor(index, question)
  const pages = new Map<string, Match>()
  const ranked = [...evidence].map(([id, each]) => ({
    place: index.places[id] as Place,
    score: scoreOf(each),
    coverage: each.coverage,
  }))
  for (const match of ranked.sort((a, b) => b.score - a.score)) {
    const {page} = match.place
    const best = pages.get(page)
    if (best === undefined) pages.set(page, {...match, more: []})
    else if (best.more.length < morePlaces && match.score > nearlyAsGood * best.score) best.more.push(match.place)
  }
  return {matches: [...pages.values()], values}
}

const scoreOf = (evidence: Evidence) =>
  Object.entries(weights).reduce((sum, [name, weight]) => sum + weight * evidence[name as keyof Evidence], 0)

/** A term that is looked up, and how well it is what was typed, from 0 to 1. */
interface Wanted {
  term: string
  share: number
}

/** What speaks for each passage that contains a word of the question, by its number, and the values of the terms. */
export function evidenceFor(
  index: HelpIndex,
  question: string,
): {evidence: Map<number, Evidence>; values: ReadonlyMap<string, number>} {
  const {places, phrases, words} = index
  const found = new Map<number, Evidence>()
  const values = new Map<string, number>()
  const terms = wantedTerms(words, question)
  const asked = passagesAsked(phrases, new Set(terms.flatMap(({wanted}) => wanted.map(({term}) => term))))
  let total = 0
  for (const {wanted, weight} of terms) {
    const shares = new Map<number, number>()
    const scores = new Map<number, number>()
    const [typed] = wanted
    let passagesWithTerm = 0
    for (const {term, share} of wanted) {
      for (const {id, score} of words.search(term, {boost})) {
        shares.set(id, Math.max(shares.get(id) ?? 0, share))
        scores.set(id, Math.max(scores.get(id) ?? 0, share * score))
      }
      for (const id of asked.get(term) ?? []) shares.set(id, Math.max(shares.get(id) ?? 0, share))
      if (term === typed?.term) passagesWithTerm = shares.size
    }
    const rarity = rarityOf(places.length, passagesWithTerm) * weight
    total += rarity
    for (const {term, share} of wanted) values.set(term, Math.max(values.get(term) ?? 0, rarity * share))
    for (const [id, share] of shares) {
      const {coverage = 0, words: sum = 0} = found.get(id) ?? {}
      found.set(id, {...nothing, coverage: coverage + rarity * share, words: sum + weight * (scores.get(id) ?? 0)})
    }
  }
  for (const [id, evidence] of found) {
    const similar = (phrases[id] ?? []).map((phrase) => similarity(phrase, values, total)).sort((a, b) => b - a)
    evidence.coverage /= total
    evidence.full = evidence.coverage ** 2
    evidence.phrase = similar[0] ?? 0
    evidence.phrases = (similar[1] ?? 0) + (similar[2] ?? 0)
  }
  addPages(found, index)
  return {evidence: found, values}
}

/** Adds what is similar to a question on the page of each passage, and in the passages that the page is linked with. */
function addPages(found: ReadonlyMap<number, Evidence>, {places, links}: HelpIndex): void {
  const pages = new Map<string, {phrases: number[]; linked: number}>()
  const pageOf = (id: number) => (places[id] as Place).page
  for (const [id, {phrase}] of found) {
    const page = pages.get(pageOf(id)) ?? {phrases: [], linked: 0}
    page.phrases.push(phrase)
    page.linked = Math.max(page.linked, ...(links[id] ?? []).map((other) => found.get(other)?.phrase ?? 0))
    pages.set(pageOf(id), page)
  }
  for (const page of pages.values()) page.phrases.sort((a, b) => b - a)
  for (const [id, evidence] of found) {
    const {phrases: [, second = 0, third = 0] = [], linked = 0} = pages.get(pageOf(id)) ?? {}
    evidence.page = second + third
    evidence.linked = linked
  }
}

/** The passages with phrases that contain a term, by the term. */
function passagesAsked(phrases: HelpIndex['phrases'], wanted: ReadonlySet<string>): Map<string, Set<number>> {
  const asked = new Map([...wanted].map((term) => [term, new Set<number>()]))
  phrases.forEach((list, id) => {
    for (const {terms} of list) for (const term of terms) asked.get(term)?.add(id)
  })
  return asked
}

const nothing: Evidence = {coverage: 0, full: 0, phrase: 0, phrases: 0, page: 0, linked: 0, words: 0}

/** Cosine of a phrase and the question, by the rarity of the terms that both have. */
const similarity = ({terms, rarity}: Phrase, values: ReadonlyMap<string, number>, total: number) =>
  terms.reduce((sum, term) => sum + (values.get(term) ?? 0), 0) / Math.sqrt(rarity * total || 1)

/** Each term of a question with the other words for it. */
function wantedTerms(words: MiniSearch, question: string): {wanted: Wanted[]; weight: number}[] {
  return [...uniqueTerms(words, question)].flatMap(({term: typed, word}) => {
    const term = corrected(words, {term: typed, word})
    if (term === undefined) return []
    const others = synonymsOf(term).map((other) => ({term: other, share: synonymWeight}))
    const weight = (isCommon(term) ? commonWeight : 1) * (term === typed ? 1 : misspelledWeight)
    return [{wanted: [{term, share: 1}, ...others], weight}]
  })
}

/** The terms of a question, without repeats, and the names that its words spell: `port in use` is `port_in_use`, too. */
function uniqueTerms(words: MiniSearch, question: string): Iterable<Term> {
  const typed = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const names = typed.flatMap((_, at) =>
    [2, 3, 4].map((count) => typed.slice(at, at + count).join('_')).filter((name) => words.search(name).length > 0),
  )
  const terms = [...typedTerms(question), ...names.map((name) => ({term: name, word: name}))]
  return new Map(terms.map((each) => [each.term, each])).values()
}

/** Whether a question names another product. */
export const namesProduct = (question: string): boolean => typedTerms(question).some(({word}) => isOtherProduct(word))
