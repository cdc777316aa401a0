import type {speechServerSettings, TableValues} from '../../config/index.js'
import type {Draft} from '../model/model.js'

/**
 * When a hypothesis is stable: after `streamPartialQuietMs` without any change, and a word after `streamMaxWaitMs`
 * although hypotheses disagree on it.
 */
export type StabilityRules = Pick<TableValues<typeof speechServerSettings>, 'streamPartialQuietMs' | 'streamMaxWaitMs'>

interface Word {
  text: string
  /** Time at which a hypothesis first had a word at this position, ms. */
  since: number
}

/** The text of a partial result; `stable` is a prefix of `text`. */
export interface LiveText {
  text: string
  stable: string
}

/**
 * Decides which words of successive hypotheses of one utterance no longer change. A prefix becomes stable if two
 * successive hypotheses agree on it, if nothing has changed for a while, or if it has waited too long. The stable text
 * only grows. Source: LocalAgreement-2, Macháček et al. 2023, arXiv 2307.14743.
 */
export class StableText {
  readonly #rules: StabilityRules
  #words: Word[] = []
  #stable = 0
  #changedAt = 0

  constructor(rules: StabilityRules) {
    this.#rules = rules
  }

  /**
   * Adds the next hypothesis of the whole utterance. Only words that are `certain` too become stable by agreement.
   * @param now time of the hypothesis, ms
   */
  add(hypothesis: Draft, now: number): LiveText {
    const heard = wordsOf(hypothesis.text)
    const agreed = commonPrefix(this.#words, heard)
    const hasChanged = agreed < this.#words.length || heard.length !== this.#words.length
    if (hasChanged) this.#changedAt = now
    const tail = heard
      .slice(this.#stable)
      .map((text, i): Word => ({text, since: this.#words[this.#stable + i]?.since ?? now}))
    this.#words = [...this.#words.slice(0, this.#stable), ...tail]
    this.#stable = Math.max(this.#stable, Math.min(agreed, this.#certain(hypothesis), this.#words.length))
    return this.settle(now)
  }

  #certain({text, certain}: Draft): number {
    return certain === text ? Infinity : commonPrefix(this.#words, wordsOf(certain))
  }

  /** Applies the time limits without a new hypothesis. */
  settle(now: number): LiveText {
    if (now - this.#changedAt >= this.#rules.streamPartialQuietMs) this.#stable = this.#words.length
    while (now - (this.#words[this.#stable]?.since ?? now) >= this.#rules.streamMaxWaitMs) this.#stable++
    const texts = this.#words.map(({text}) => text)
    return {text: texts.join(' '), stable: texts.slice(0, this.#stable).join(' ')}
  }
}

/** Number of words that two hypotheses share at their start, apart from case and punctuation. */
function commonPrefix(before: readonly Word[], heard: readonly string[]): number {
  const differs = before.findIndex(({text}, i) => key(text) !== key(heard[i] ?? ''))
  return differs === -1 ? before.length : differs
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

const key = (word: string): string => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '') || word
