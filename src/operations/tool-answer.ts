import {SvcError} from '../errors/index.js'

export class ToolAnswer<T = unknown> {
  readonly data: T
  readonly meta: Readonly<Record<string, unknown>>

  constructor(data: T, meta: Readonly<Record<string, unknown>>) {
    this.data = data
    this.meta = meta
  }
}

export const toolAnswer = <T>(data: T, meta: Readonly<Record<string, unknown>>): ToolAnswer<T> =>
  new ToolAnswer(data, meta)

/** An error with metadata, which surfaces return if they support it. */
export class DetailedError extends SvcError {
  readonly meta: Readonly<Record<string, unknown>>

  constructor({code, params, stack = ''}: SvcError, meta: Readonly<Record<string, unknown>>) {
    super(code, params)
    this.stack = stack
    this.meta = meta
  }
}
