import type MiniSearch from 'minisearch'
import type {HelpIndex} from './index-file.js'
import {kindOf, type Place} from './passages.js'
import {corrected} from './spelling.js'
import {isCommon, isOtherProduct, synonymsOf, type Term, typedTerms} from './terms.js'

/** A passage that fits a question. */
export interface Match {
  place: Place
  score: number
  /** Share of the question that the passage contains, by the rarity of its words: from 0 to 1. */
  coverage: number
}

/** Weights of the fields: a heading says what a passage is about. */
const boost = {title: 1.5, section: 2, asked: 2.5, text: 1}

/** Weight of another word for a word of the question, in relation to that word. */
const synonymWeight = 0.6

/** Weight of a word that was misspelled. */
const misspelledWeight = 0.8

/** Weight of a word of everyday language. */
const commonWeight = 0.3

/** Weights of passages that are about one case: they answer only questions that name it. */
const weightOf = ({page, headings}: Place): number =>
  kindOf(page) === 'error' || page === 'docs/db-diagnostics.md' ? 0.8 : headings.at(-1)?.startsWith('`') ? 0.7 : 1

/** The passages that contain words of a question, the best of each page, and the best page first. */
export function search({places, words}: HelpIndex, question: string): Match[] {
  const found = new Map<number, {score: number; covered: number}>()
  let total = 0
  for (const {term: typed, word} of uniqueTerms(words, question)) {
    const term = corrected(words, {term: typed, word})
    if (term === undefined) continue
    const scores = new Map<number, number>()
    const add = (wanted: string, share: number) => {
      for (const {id, score} of words.search(wanted, {boost}))
        scores.set(id, Math.max(scores.get(id) ?? 0, score * share))
    }
    add(term, term === typed ? 1 : misspelledWeight)
    const weight = isCommon(term) ? commonWeight : 1
    const rarity = Math.log(1 + places.length / (1 + scores.size)) * weight
    const exact = new Set(scores.keys())
    for (const other of synonymsOf(term)) add(other, synonymWeight)
    total += rarity
    for (const [id, score] of scores) {
      const {score: other, covered} = found.get(id) ?? {score: 0, covered: 0}
      found.set(id, {
        score: other + score * weight,
        covered: covered + rarity * (exact.has(id) ? 1 : synonymWeight),
      })
    }
  }
  const best = new Map<string, Match>()
  for (const [id, {score, covered}] of found) {
    const place = places[id] as Place
    const match = {place, score: score * (covered / total) ** 2 * weightOf(place), coverage: covered / total}
    if (match.score > (best.get(place.page)?.score ?? 0)) best.set(place.page, match)
  }
  return [...best.values()].sort((a, b) => b.score - a.score)
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
