import {once} from 'node:events'

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

  /** One line for the person at the terminal; never part of a result. */
  notice(text: string): void {
    if (!this.#quiet) process.stderr.write(`${text}\n`)
  }

  /** Waits where the reader is slow; throws when it has gone. */
  async #write(text: string): Promise<void> {
    const {stdout} = process
    if (stdout.destroyed || stdout.errored !== null) throw new StdoutClosed()
    if (stdout.write(text)) return
    try {
      await once(stdout, 'drain')
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'EPIPE' ? new StdoutClosed() : error
    }
  }
}
