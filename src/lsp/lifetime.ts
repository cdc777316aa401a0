import type {InitializeParams, WatchDog} from 'vscode-languageserver'
import {isRunning} from '../process/index.js'

/** How often the process of the client is looked for, ms. */
const clientCheckMs = 3000

/** Notices when the client is done, in every way there is. */
export class Lifetime implements WatchDog {
  /** Resolves with the exit status when it is over. */
  readonly over: Promise<0 | 1>
  shutdownReceived = false
  readonly #input: NodeJS.ReadableStream
  #end!: (status: 0 | 1) => void

  constructor(input: NodeJS.ReadableStream, signal: AbortSignal) {
    this.over = new Promise((resolve) => {
      this.#end = resolve
    })
    this.#input = input
    // What was asked before the input ended is still answered: only a client that left is not waited for.
    input.once('end', () => this.#end(0))
    input.once('close', () => this.#end(0))
    if (signal.aborted) this.#stop(0)
    signal.addEventListener('abort', () => this.#stop(0), {once: true})
  }

  /** A client that is killed may leave its end of the input open in a child of its own. */
  initialize({processId}: InitializeParams): void {
    if (processId === null) return
    const timer = setInterval(() => {
      if (isRunning(processId)) return
      clearInterval(timer)
      this.#stop(0)
    }, clientCheckMs)
    timer.unref()
  }

  exit(status: number): void {
    this.#stop(status === 0 ? 0 : 1)
  }

  /** An input that is read keeps the process alive. */
  #stop(status: 0 | 1): void {
    this.#input.pause()
    this.#end(status)
  }
}
