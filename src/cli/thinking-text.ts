import {Flags} from '@oclif/core'
import {inGroup} from './flag-groups.js'

/** Whether a model thinks before it replies, and whether that is shown. */
export const thinkingFlags = {
  ...inGroup('generation', {
    think: Flags.boolean({
      description: 'Let the model think before it replies. (default: as its chat template does)',
      allowNo: true,
    }),
  }),
  ...inGroup('output', {
    'show-thinking': Flags.boolean({
      description: 'Print what the model thinks to standard error. (default: on a terminal)',
      allowNo: true,
    }),
  }),
}

/** Prints what a model thinks to standard error, dim on a terminal, with an empty line before the reply. */
export class ThinkingText {
  readonly #isShown: boolean
  #ending = ''

  /** @param isShown default: if both standard streams are terminals */
  constructor(isShown = process.stdout.isTTY === true && process.stderr.isTTY === true) {
    this.#isShown = isShown
  }

  print(text: string): void {
    if (!this.#isShown || text === '') return
    const isTerminal = process.stderr.isTTY === true
    process.stderr.write(isTerminal ? `\x1b[2m${text}\x1b[22m` : text)
    this.#ending = text.endsWith('\n') ? '\n' : '\n\n'
  }

  /** Ends the lines of the thinking, before something else is printed. */
  end(): void {
    if (this.#ending !== '') process.stderr.write(this.#ending)
    this.#ending = ''
  }
}
