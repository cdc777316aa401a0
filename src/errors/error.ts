import {type ErrorCode, type ErrorParams, type ErrorRow, type ExitStatus, errorCatalogue} from './catalogue.js'
import {httpStatusOf} from './row.js'

/** An error as plain data, to be sent to another thread or process. */
export interface ErrorRecord {
  code: ErrorCode
  params: object
  /** Replaces the message of the row. */
  message?: string
  stack: string | undefined
}

interface SvcErrorOptions extends ErrorOptions {
  /** Replaces the message of the row. */
  message?: string | undefined
}

/**
 * An error a user can meet: a row of the catalogue with the parameters of this case.
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
   * An error reported by another program as a code and a message, without parameters; undefined if the code is unknown
   * or the hint of its row needs parameters.
   */
  static fromRemote(code: string, message: string): SvcError | undefined {
    if (!Object.hasOwn(errorCatalogue(), code)) return undefined
    const known = code as ErrorCode
    const {hint} = errorCatalogue()[known] as ErrorRow<never>
    // A function whose parameter has a default works without parameters.
    if (typeof hint === 'function' && hint.length > 0) return undefined
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

  /** One sentence: what to do about the error. */
  get hint(): string {
    const {hint} = this.#row
    return typeof hint === 'function' ? hint(this.params) : hint
  }

  /** OpenAI's code for this error, or null. */
  get openaiCode(): string | null {
    const {openai} = this.#row
    return (typeof openai === 'function' ? openai(this.params) : openai) ?? null
  }

  /** The request field that caused the error, or null. */
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

  /** Converts anything thrown to an error of the catalogue: file-system errors to theirs, the rest to `internal`. */
  static from(thrown: unknown): SvcError {
    if (thrown instanceof SvcError) return thrown
    if (thrown instanceof Error) {
      if (thrown.cause instanceof SvcError) return thrown.cause
      const systemError = thrown as NodeJS.ErrnoException
      const path = systemError.path ?? 'the file'
      switch (systemError.code) {
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

/** True if a thrown value has this error code; narrows the type of its parameters. */
export const isErrorOf = <C extends ErrorCode>(thrown: unknown, code: C): thrown is SvcError<C> =>
  thrown instanceof SvcError && thrown.code === code
