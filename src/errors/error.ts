import {type ErrorCode, type ErrorParams, type ErrorRow, type ExitStatus, errorCatalogue} from './catalogue.js'
import {httpStatusOf} from './row.js'

/** An error as plain data, for crossing a thread or a process. */
export interface ErrorRecord {
  code: ErrorCode
  params: object
  /** Where it is not the row that says it. */
  message?: string
  stack: string | undefined
}

interface SvcErrorOptions extends ErrorOptions {
  /** The sentence, in the place of that of the row. */
  message?: string | undefined
}

/**
 * An error a user can meet: a row of the catalogue with the facts of this case.
 *
 * @example throw new SvcError('shard_missing', {shard: 'model-00002-of-00002.safetensors', index})
 */
export class SvcError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'SvcError'
  readonly code: C
  readonly params: ErrorParams<C>
  readonly #remoteMessage: string | undefined

  constructor(code: C, params: ErrorParams<C>, {message, ...options}: SvcErrorOptions = {}) {
    const row = errorCatalogue()[code] as ErrorRow<ErrorParams<C>>
    super(message ?? row.message(params), options)
    this.code = code
    this.params = params
    this.#remoteMessage = message
  }

  /**
   * An error that another program has told of, by its code, in the sentence of that program, since the facts of the case
   * did not come along; undefined where the code is of no row, or of one whose hint needs the facts.
   */
  static fromRemote(code: string, message: string): SvcError | undefined {
    if (!Object.hasOwn(errorCatalogue(), code)) return undefined
    const known = code as ErrorCode
    if (typeof (errorCatalogue()[known] as ErrorRow<never>).hint === 'function') return undefined
    return new SvcError(known, {} as ErrorParams<ErrorCode>, {message})
  }

  get #row(): ErrorRow<ErrorParams<C>> {
    return errorCatalogue()[this.code] as ErrorRow<ErrorParams<C>>
  }

  get exit(): ExitStatus {
    return this.#row.exit
  }

  get status(): number {
    return httpStatusOf(this.#row)
  }

  /** What to do about it: one sentence. */
  get hint(): string {
    const {hint} = this.#row
    return typeof hint === 'function' ? hint(this.params) : hint
  }

  /** The code OpenAI clients know for this error, or null. */
  get openaiCode(): string | null {
    return this.#row.openai ?? null
  }

  /** The request field at fault, or null. */
  get param(): string | null {
    return this.#row.param?.(this.params) || null
  }

  toRecord(): ErrorRecord {
    const {code, params} = this
    const stack = (this.cause as Error | undefined)?.stack ?? this.stack
    return {code, params, ...(this.#remoteMessage === undefined ? {} : {message: this.#remoteMessage}), stack}
  }

  static fromRecord(record: ErrorRecord): SvcError {
    const {message} = record
    const error = new SvcError(record.code, record.params as ErrorParams<ErrorCode>, {message})
    if (record.stack !== undefined) error.stack = record.stack
    return error
  }

  /** Whatever was thrown, as a row of the catalogue: file-system errors keep their meaning, the rest is `internal`. */
  static from(thrown: unknown): SvcError {
    if (thrown instanceof SvcError) return thrown
    if (thrown instanceof Error) {
      if (thrown.cause instanceof SvcError) return thrown.cause
      const fault = thrown as NodeJS.ErrnoException
      const path = fault.path ?? 'the file'
      switch (fault.code) {
        case 'ENOENT':
        case 'ENOTDIR':
          return new SvcError('file_not_found', {path}, {cause: thrown})
        case 'EACCES':
        case 'EPERM':
          return new SvcError('file_unreadable', {path, reason: 'permission denied'}, {cause: thrown})
        case 'EISDIR':
          return new SvcError('file_unreadable', {path, reason: 'it is a directory'}, {cause: thrown})
        case 'ENOSPC':
          return new SvcError('disk_full', {path}, {cause: thrown})
      }
      if (thrown.name === 'AbortError') return new SvcError('interrupted', {}, {cause: thrown})
      return new SvcError('internal', {reason: thrown.message}, {cause: thrown})
    }
    return new SvcError('internal', {reason: String(thrown)})
  }
}

/** Whether something thrown is the error of one row, with its parameters typed. */
export const isErrorOf = <C extends ErrorCode>(thrown: unknown, code: C): thrown is SvcError<C> =>
  thrown instanceof SvcError && thrown.code === code
