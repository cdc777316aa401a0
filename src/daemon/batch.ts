import {SvcError} from '../errors/index.js'
import {type Refusal, type Request, readEntry} from './envelope.js'

const maxEntries = 1000
/** Characters that the answers of one batch may have together: they are held until the last one is there. */
const maxAnswers = 32 << 20

/** Requests of JSON-RPC that are answered together. They are done one after another like all others. */
export class Batch {
  readonly #entries: readonly unknown[]
  readonly #answers: string[] = []
  #at = 0
  #size = 0

  /** @throws request_invalid */
  constructor(entries: readonly unknown[]) {
    if (entries.length === 0) throw new SvcError('request_invalid', {reason: 'the batch is empty'})
    if (entries.length > maxEntries)
      throw new SvcError('request_invalid', {reason: `the batch has more than ${maxEntries} requests`})
    this.#entries = entries
  }

  /** The next one, once the one before it is answered. */
  next(): Request | Refusal {
    const entry = readEntry(this.#entries[this.#at++])
    if ('error' in entry || this.#size <= maxAnswers) return entry
    const {form, id} = entry
    return {form, id, error: new SvcError('batch_answer_too_large', {limit: maxAnswers})}
  }

  /** @param answer empty for a notification, @returns all answers where this is the last one; empty where there are none */
  take(answer: string): string | undefined {
    if (answer !== '') this.#answers.push(answer)
    this.#size += answer.length
    if (this.#at < this.#entries.length) return undefined
    return this.#answers.length === 0 ? '' : `[${this.#answers.join(',')}]`
  }
}
