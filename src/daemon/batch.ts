import {SvcError} from '../errors/index.js'
import {type Refusal, type Request, readEntry} from './envelope.js'

const maxEntries = 1000
/** Maximum total length of the responses of a batch, which are buffered until the last one is ready, characters. */
const maxAnswers = 32 << 20

/** JSON-RPC batch. Its requests are processed sequentially and answered together. */
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

  /** Returns the next request. Must be called after the previous one is answered. */
  next(): Request | Refusal {
    const entry = readEntry(this.#entries[this.#at++])
    if ('error' in entry || this.#size <= maxAnswers) return entry
    const {form, id} = entry
    return {form, id, error: new SvcError('batch_answer_too_large', {limit: maxAnswers})}
  }

  /** @param answer empty for a notification @returns all responses after the last request, otherwise undefined */
  take(answer: string): string | undefined {
    if (answer !== '') this.#answers.push(answer)
    this.#size += answer.length
    if (this.#at < this.#entries.length) return undefined
    return this.#answers.length === 0 ? '' : `[${this.#answers.join(',')}]`
  }
}
