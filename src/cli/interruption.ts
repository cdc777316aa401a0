import {isatty} from 'node:tty'
import {type ErrorParams, Exit, isErrorOf, SvcError} from '../errors/index.js'

/**
 * Aborts its signal on SIGINT, SIGTERM or SIGHUP, so that the command can shut down cleanly. Also aborts it when the
 * reader of standard output closes it, unless the command finishes its work then. A second SIGINT or SIGTERM exits
 * immediately. A second SIGHUP does not: a terminal that closes often sends two.
 */
export class Interruption {
  readonly #controller = new AbortController()
  readonly #undo: (() => void)[] = []
  #onHangup: (() => void) | undefined
  #forward: ((signal: NodeJS.Signals) => void) | undefined

  /** @param unread the reason when standard output is no longer read; undefined if the command does not end then */
  constructor(unread: () => Error | undefined) {
    this.#onSignal('SIGINT', new SvcError('interrupted', {}), Exit.interrupted)
    const terminated = new SvcError('terminated', {})
    this.#onSignal('SIGTERM', terminated, Exit.terminated)
    const terminals = [0, 1, 2].filter((stream) => isatty(stream))
    const onHangup = () => {
      if (this.#forward !== undefined) return this.#forward('SIGHUP')
      if (this.#onHangup !== undefined) return this.#onHangup()
      if (!this.#controller.signal.aborted && terminals.length > 0) process.once('exit', () => endByHangup(terminals))
      this.#controller.abort(terminated)
    }
    process.on('SIGHUP', onHangup)
    this.#undo.push(() => process.off('SIGHUP', onHangup))
    const onError = (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EPIPE' ? unread() : undefined
      if (reason !== undefined) this.#controller.abort(reason)
    }
    process.stdout.on('error', onError)
    this.#undo.push(() => process.stdout.off('error', onError))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Replaces what SIGHUP does. */
  set onHangup(handler: () => void) {
    this.#onHangup = handler
  }

  /** Passes signals on instead of aborting, while another program decides what they do; undefined ends that. */
  set forward(send: ((signal: NodeJS.Signals) => void) | undefined) {
    this.#forward = send
  }

  dispose(): void {
    for (const undo of this.#undo) undo()
  }

  #onSignal(name: 'SIGINT' | 'SIGTERM', reason: SvcError, status: number): void {
    const onSignal = () => {
      if (this.#forward !== undefined) return this.#forward(name)
      if (this.#controller.signal.aborted) {
        process.once('exit', () => endBy(name))
        process.exit(status)
      }
      this.#controller.abort(reason)
    }
    process.on(name, onSignal)
    this.#undo.push(() => process.off(name, onSignal))
  }
}

/**
 * Ends the process by SIGHUP if these terminals have closed: Node would dump core when it restores their modes, which fails
 * with EIO.
 */
function endByHangup(terminals: readonly number[]): void {
  if (!terminals.some((stream) => isatty(stream))) endBy('SIGHUP')
}

/**
 * Ends the process by a signal, after the other listeners of its exit. Node would first terminate the threads: one that runs
 * native code, such as onnxruntime-node, could abort the process.
 */
function endBy(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void {
  // Windows would end it with status 1.
  if (process.platform === 'win32') return
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}

/**
 * The error of stopped work that can continue: its hint names the command that continues it. Other errors are returned
 * unchanged.
 */
export function stopped<W extends 'wait' | 'workflow' | 'transcription'>(
  error: unknown,
  work: W,
  params: ErrorParams<`${W}_interrupted`> & ErrorParams<`${W}_terminated`>,
): unknown {
  if (isErrorOf(error, 'interrupted')) return new SvcError(`${work}_interrupted`, params, {cause: error})
  if (isErrorOf(error, 'terminated')) return new SvcError(`${work}_terminated`, params, {cause: error})
  return error
}
