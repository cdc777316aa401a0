import {Exit, SvcError} from '../errors/index.js'
import {StdoutClosed} from './output.js'

/**
 * Watches for the ways a command is stopped from outside: SIGINT, SIGTERM, and a reader of standard output that goes.
 * The first one aborts the signal, so that the command can end cleanly; a second SIGINT or SIGTERM exits at once.
 */
export class Interruption {
  readonly #controller = new AbortController()
  readonly #undo: (() => void)[] = []

  constructor() {
    this.#onSignal('SIGINT', new SvcError('interrupted', {}), Exit.interrupted)
    this.#onSignal('SIGTERM', new SvcError('terminated', {}), Exit.terminated)
    const onError = (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') this.#controller.abort(new StdoutClosed())
    }
    process.stdout.on('error', onError)
    this.#undo.push(() => process.stdout.off('error', onError))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  dispose(): void {
    for (const undo of this.#undo) undo()
  }

  #onSignal(name: 'SIGINT' | 'SIGTERM', reason: SvcError, status: number): void {
    const onSignal = () => {
      if (this.#controller.signal.aborted) process.exit(status)
      this.#controller.abort(reason)
    }
    process.on(name, onSignal)
    this.#undo.push(() => process.off(name, onSignal))
  }
}
