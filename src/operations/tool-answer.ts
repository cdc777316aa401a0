import type {SvcError} from '../errors/index.js'

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

/** An error that is told with something beside it. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
  readonly error: SvcError
  readonly meta: Readonly<Record<string, unknown>>

  constructor(error: SvcError, meta: Readonly<Record<string, unknown>>) {
    super(error.message, {cause: error})
    this.error = error
    this.meta = meta
  }
}
