import type {InitializeParams, WatchDog} from 'vscode-languageserver'
import {isRunning, onAbort} from '../process/index.js'

/** Interval between checks of the client process, ms. */
const clientCheckMs = 3000

/** Detects the end of the client by message, input stream, process or signal. */
export class Lifetime implements WatchDog {
  /** Resolves with the exit status when the client has ended. */
  readonly over: Promise<0 | 1>
  shutdownReceived = false
  readonly #input: NodeJS.ReadableStream
  #end!: (status: 0 | 1) => void

  constructor(input: NodeJS.ReadableStream, signal: AbortSignal) {
    this.over = new Promise((resolve) => {
      this.#end = resolve
    })
    this.#input = input
    // Requests received before the end of input are still answered.
    input.once('end', () => this.#end(0))
    input.once('close', () => this.#end(0))
    onAbort(signal, () => this.#stop(0))
  }

  /** Watches the client process: after a kill, a child of the client may keep the input open. */
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

  /** Stops reading, because an active input keeps the process alive. */
  #stop(status: 0 | 1): void {
    this.#input.pause()
    this.#end(status)
  }
}
