import {writeFault} from '../files/index.js'

/** The reader of standard output closed it, as in `svc … | head`. Ends the command, but is not an error. */
export class StdoutClosed extends Error {
  override readonly name = 'StdoutClosed'
}

/** Writes results to standard output and everything else to standard error. */
export class Output {
  readonly json: boolean
  readonly #quiet: boolean

  constructor({json, quiet}: {json: boolean; quiet: boolean}) {
    this.json = json
    this.#quiet = quiet
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

  /** Resolves when the text is flushed, so that a slow reader slows the command. @throws StdoutClosed */
  #write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(asWriteError(error)) : resolve()))
    })
  }
}

/** Codes of writes to a closed stream: `EPIPE` at the first write, `ERR_STREAM_DESTROYED` after it. */
const closedCodes = new Set(['EPIPE', 'ERR_STREAM_DESTROYED'])

const asWriteError = (error: NodeJS.ErrnoException): Error =>
  closedCodes.has(error.code ?? '') ? new StdoutClosed() : writeFault(error, 'standard output')

/** Ignores the error events of the standard streams, which would end the process: writers receive each error. */
export function silenceStreamErrors(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error')
    stream.on('error', () => {})
  }
}
