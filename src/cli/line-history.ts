import {appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {homedir} from 'node:os'
import {dirname, join} from 'node:path'

/** Maximum number of lines of a history. */
export const maxLines = 1000

/** The lines that a person typed into an interactive command, in a file of theirs that others cannot read. */
export class LineHistory {
  readonly #path: string
  /** Newest first, as `readline` wants them. */
  readonly lines: string[]

  /** @param name of the file in the state directory of the user */
  constructor(name: string, env: NodeJS.ProcessEnv = process.env) {
    this.#path = join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'svc', name)
    this.lines = this.#read()
  }

  /** Adds a line, unless it repeats the last one. A history that cannot be written is only kept in memory. */
  add(line: string): void {
    if (line.trim() === '' || line === this.lines[0]) return
    this.lines.unshift(line)
    try {
      mkdirSync(dirname(this.#path), {recursive: true, mode: 0o700})
      // Several shells may append, so only the start of a shell shortens the file.
      appendFileSync(this.#path, `${line}\n`, {mode: 0o600})
    } catch {}
  }

  #read(): string[] {
    try {
      const lines = readFileSync(this.#path, 'utf8').split('\n').filter(Boolean)
      chmodSync(this.#path, 0o600)
      if (lines.length > 2 * maxLines)
        writeFileSync(this.#path, `${lines.slice(-maxLines).join('\n')}\n`, {mode: 0o600})
      return lines.slice(-maxLines).reverse()
    } catch {
      return []
    }
  }
}
