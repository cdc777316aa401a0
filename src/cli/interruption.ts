import {type ErrorParams, Exit, isErrorOf, SvcError} from '../errors/index.js'

/**
 * Aborts its signal on SIGINT, SIGTERM, or when the reader of standard output closes it, unless the command finishes its
 * work then, so that the command can shut down cleanly. A second SIGINT or SIGTERM exits immediately.
 */
export class Interruption {
  readonly #controller = new AbortController()
  readonly #undo: (() => void)[] = []

  /** @param unread the reason when nobody reads standard output any more; undefined if the command does not end then */
  constructor(unread: () => Error | undefined) {
    this.#onSignal('SIGINT', new SvcError('interrupted', {}), Exit.interrupted)
    this.#onSignal('SIGTERM', new SvcError('terminated', {}), Exit.terminated)
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
