import {SvcError} from '../errors/index.js'

/** An answer that a tool gives with something beside it. */
export class ToolAnswer<T = unknown> {
  readonly data: T
  readonly meta: Readonly<Record<string, unknown>>

  constructor(data: T, meta: Readonly<Record<string, unknown>>) {
    this.data = data
    this.meta = meta
  }
}

/** What an operation returns that has more to tell than its answer. */
export const toolAnswer = <T>(data: T, meta: Readonly<Record<string, unknown>>): ToolAnswer<T> =>
  new ToolAnswer(data, meta)

/** An error with more to tell than its sentence, on every surface that has a place for it. */
export class DetailedError extends SvcError {
  readonly meta: Readonly<Record<string, unknown>>

  constructor({code, params, stack = ''}: SvcError, meta: Readonly<Record<string, unknown>>) {
    super(code, params)
    this.stack = stack
    this.meta = meta
  }
}
