import type {Alternative} from '../model.js'
import {acousticBound} from '../preferred-reading.js'
import {joinTexts} from '../text/join-texts.js'

/** The text of a window, and its alternatives, the selected one first. */
export interface ReadWindow {
  text: string
  alternatives: readonly Alternative[]
}

/** A text of the first windows. */
interface Combination {
  /** Log-probability. */
  score: number
  /** True if every window has its selected text. */
  selected: boolean
  text: string
  before: Combination | undefined
}

/**
 * Returns the `count` most likely texts of all windows, the selected one first. A text is omitted if it is less likely
 * than the selected one by more than `acousticBound`, or if its part of a window is, compared with the best part.
 *
 * Windows are independent, so the most likely combinations of some windows begin with the most likely ones of all
 * windows but the last.
 */
export function combineAlternatives(windows: readonly ReadWindow[], count: number): Alternative[] {
  if (count < 2) return []
  let found: Combination[] = [{score: 0, selected: true, text: '', before: undefined}]
  for (const window of windows) {
    const choices = choicesOf(window)
    const longer = found.flatMap((before) =>
      choices.map(({text, score}, i) => ({
        score: before.score + score,
        selected: before.selected && i === 0,
        text,
        before,
      })),
    )
    found = mostLikely(longer, count)
  }
  const least = (found.find(({selected}) => selected)?.score ?? 0) - acousticBound
  return found
    .filter(({score}) => score >= least)
    .sort((a, b) => Number(b.selected) - Number(a.selected))
    .map((combination) => ({text: joinTexts(textsOf(combination)).trim(), score: combination.score}))
    .filter(({text}) => text !== '')
}

/**
 * The texts that a window can have. If its text is not that of the selected alternative, because a part of it belongs to
 * another window, it has only that.
 */
function choicesOf({text, alternatives}: ReadWindow): Alternative[] {
  const [selected] = alternatives
  if (selected === undefined || selected.text.trim() !== text.trim()) return [{text, score: 0}]
  const least = Math.max(...alternatives.map(({score}) => score)) - acousticBound
  return alternatives.filter(({score}, i) => i === 0 || score >= least)
}

/** The best combinations, and always the selected one. Their order is that of their scores. */
function mostLikely(combinations: readonly Combination[], count: number): Combination[] {
  const sorted = [...combinations].sort((a, b) => b.score - a.score)
  const kept = sorted.slice(0, count)
  if (kept.some(({selected}) => selected)) return kept
  return [...kept.slice(0, -1), ...sorted.filter(({selected}) => selected)]
}

function textsOf(combination: Combination): string[] {
  const texts: string[] = []
  for (let at: Combination | undefined = combination; at !== undefined; at = at.before) texts.push(at.text)
  return texts.filter((text) => text !== '').reverse()
}
