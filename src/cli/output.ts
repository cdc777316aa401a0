import {writeFault} from '../files/index.js'

/** The reader of standard output has gone (`svc … | head`): no error, only an end. */
export class StdoutClosed extends Error {
  override readonly name = 'StdoutClosed'
}

/** Results on standard output, everything else on standard error. */
export class Output {
  readonly json: boolean
  readonly #quiet: boolean

  constructor({json, quiet}: {json: boolean; quiet: boolean}) {
    this.json = json
    this.#quiet = quiet
  }

  /** The result of a command: one JSON value under `--json`, else its text. */
  async result<T>(value: T, asText: (value: T) => string): Promise<void> {
    if (this.json) return this.#write(`${JSON.stringify(value)}\n`)
    const text = asText(value)
    await this.#write(text === '' || text.endsWith('\n') ? text : `${text}\n`)
  }

  /** A piece of a text that is printed as it comes into being; nothing under `--json`. */
  async piece(text: string): Promise<void> {
    if (!this.json) await this.#write(text)
  }

  /** One of many results: a JSON value on a line, also without `--json` where no text is given. */
  async line(value: object, text?: string): Promise<void> {
    await this.#write(`${this.json || text === undefined ? JSON.stringify(value) : text}\n`)
  }

  /** One line of a stream of events, under `--json` alone. */
  async event(value: object): Promise<void> {
    if (this.json) await this.#write(`${JSON.stringify(value)}\n`)
  }

  /** One line for the person at the terminal; never part of a result. */
  notice(text: string): void {
    if (!this.#quiet) process.stderr.write(`${text}\n`)
  }

  /** Resolves when the text is out, so a slow reader slows the command; throws when the reader has gone. */
  #write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(asWriteError(error)) : resolve()))
    })
  }
}

/** Errors of a stream that has gone: `EPIPE` at the first write, then that it is destroyed. */
const gone = new Set(['EPIPE', 'ERR_STREAM_DESTROYED'])

const asWriteError = (error: NodeJS.ErrnoException): Error =>
  gone.has(error.code ?? '') ? new StdoutClosed() : writeFault(error, 'standard output')

/** Failed writes are reported to their callers; the streams' own error events would only end the process. */
export function silenceStreamErrors(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error')
    stream.on('error', () => {})
  }
}
