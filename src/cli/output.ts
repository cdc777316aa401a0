import {SvcError} from '../errors/index.js'
import {writeFault} from '../files/index.js'

/** The reader of standard output closed it, as in `svc … | head`. Ends the command, but is not an error. */
export class StdoutClosed extends Error {
  override readonly name = 'StdoutClosed'
}

/**
 * What a command does when the reader of standard output closes it. A listing `ends` without an error. Work `finishes`
 * without output, or `fails` if the output was its only result.
 */
export type WhenUnread = 'ends' | 'finishes' | 'fails'

/** Writes results to standard output and everything else to standard error. */
export class Output {
  readonly json: boolean
  readonly #quiet: boolean
  readonly #whenUnread: WhenUnread

  constructor({json, quiet, whenUnread = 'ends'}: {json: boolean; quiet: boolean; whenUnread?: WhenUnread}) {
    this.json = json
    this.#quiet = quiet
    this.#whenUnread = whenUnread
  }

  /** The error of a command whose output is not read any more; undefined if it finishes its work. */
  get unread(): Error | undefined {
    if (this.#whenUnread === 'finishes') return undefined
    return this.#whenUnread === 'ends' ? new StdoutClosed() : new SvcError('output_closed', {})
  }

  /** Prints the result of a command: one JSON value with `--json`, otherwise its text. */
  async result<T>(value: T, asText: (value: T) => string): Promise<void> {
    if (this.json) return this.#write(`${JSON.stringify(value)}\n`)
    const text = asText(value)
    await this.#write(text === '' || text.endsWith('\n') ? text : `${text}\n`)
  }

  /** Prints a piece of a streamed text; nothing with `--json`. */
  async piece(text: string): Promise<void> {
    if (!this.json) await this.#write(text)
  }

  /** Prints a text as it is, also with `--json`. */
  async raw(text: string): Promise<void> {
    await this.#write(text)
  }

  /** Prints one of many results: a line of JSON with `--json` or if there is no text, otherwise the text. */
  async line(value: object, text?: string): Promise<void> {
    await this.#write(`${this.json || text === undefined ? JSON.stringify(value) : text}\n`)
  }

  /** Prints one event as a line of JSON; nothing without `--json`. */
  async event(value: object): Promise<void> {
    if (this.json) await this.#write(`${JSON.stringify(value)}\n`)
  }

  /** Prints a line to standard error, unless `--quiet`. */
  notice(text: string): void {
    if (!this.#quiet) process.stderr.write(`${text}\n`)
  }

  /** Resolves when the text is flushed, so that a slow reader slows the command. @throws `unread` */
  #write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => {
        const fault = error ? this.#faultOf(error) : undefined
        if (fault === undefined) resolve()
        else reject(fault)
      })
    })
  }

  #faultOf(error: NodeJS.ErrnoException): Error | undefined {
    return closedCodes.has(error.code ?? '') ? this.unread : writeFault(error, 'standard output')
  }
}

/** Codes of writes to a closed stream: `EPIPE` at the first write, `ERR_STREAM_DESTROYED` after it. */
const closedCodes = new Set(['EPIPE', 'ERR_STREAM_DESTROYED'])

/** Ignores the error events of the standard streams, which would end the process: writers receive each error. */
export function silenceStreamErrors(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error')
    stream.on('error', () => {})
  }
}
