import {acousticBound} from '../constraints/preferred-reading.js'
import type {Alternative} from '../model/model.js'
import {joinTexts} from '../text/join-texts.js'

/** The text of a window, and its alternatives, the selected one first. */
export interface ReadWindow {
  text: string
  alternatives: readonly Alternative[]
}

/** A window that does not have its selected text, and such windows before it. */
interface Replacement {
  window: number
  text: string
  before: Replacement | undefined
}

/** A text of the windows so far. */
interface Combination {
  /** Log-probability. */
  score: number
  /** Undefined if every window has its selected text. */
  replaced: Replacement | undefined
}

/**
 * The `count` most likely texts of all windows; none if `count` is 1. Windows are independent, so the most likely
 * combinations of some windows begin with the most likely ones of all windows but the last. Of each window, only the
 * selected text and the texts of those combinations are kept.
 */
export class CombinedAlternatives {
  readonly #count: number
  readonly #texts: string[] = []
  #found: Combination[] = [{score: 0, replaced: undefined}]

  constructor(count: number) {
    this.#count = count
  }

  add(window: ReadWindow): void {
    if (this.#count < 2) return
    const choices = choicesOf(window)
    const index = this.#texts.push(choices[0]?.text ?? '') - 1
    const longer = this.#found.flatMap(({score: before, replaced}) =>
      choices.map(({text, score}, i) => ({
        score: before + score,
        replaced: i === 0 ? replaced : {window: index, text, before: replaced},
      })),
    )
    this.#found = mostLikely(longer, this.#count)
  }

  /**
   * Returns the texts, the selected one first. A text is omitted if it is less likely than the selected one by more than
   * `acousticBound`, or if its part of a window is, compared with the best part.
   */
  list(): Alternative[] {
    const minScore = (this.#found.find(isSelected)?.score ?? 0) - acousticBound
    return this.#found
      .filter(({score}) => score >= minScore)
      .sort((a, b) => Number(isSelected(b)) - Number(isSelected(a)))
      .map(({score, replaced}) => ({text: joinTexts(this.#textsOf(replaced)).trim(), score}))
      .filter(({text}) => text !== '')
  }

  #textsOf(last: Replacement | undefined): string[] {
    const texts = [...this.#texts]
    for (let at = last; at !== undefined; at = at.before) texts[at.window] = at.text
    return texts.filter((text) => text !== '')
  }
}

const isSelected = ({replaced}: Combination): boolean => replaced === undefined

/**
 * The texts that a window can have. If its text is not that of the selected alternative, because a part of it belongs to
 * another window, it has only that.
 */
function choicesOf({text, alternatives}: ReadWindow): Alternative[] {
  const [selected] = alternatives
  if (selected === undefined || selected.text.trim() !== text.trim()) return [{text, score: 0}]
  const minScore = Math.max(...alternatives.map(({score}) => score)) - acousticBound
  return alternatives.filter(({score}, i) => i === 0 || score >= minScore)
}

/** The best combinations, and always the selected one. Their order is that of their scores. */
function mostLikely(combinations: readonly Combination[], count: number): Combination[] {
  const sorted = [...combinations].sort((a, b) => b.score - a.score)
  const kept = sorted.slice(0, count)
  if (kept.some(isSelected)) return kept
  return [...kept.slice(0, -1), ...sorted.filter(isSelected)]
}
