import {onAbort} from '../process/index.js'
export interface ByteReaderOptions {
  /** Releases the source. Needed because an iterator that was never started, or is waiting, does not do so. */
  destroy?: (() => void) | undefined
  /** Aborts a pending read and closes the reader. */
  signal?: AbortSignal | undefined
}

/** Maximum number of successive reads that advance by no byte; a decoder that has more would never end. */
const maxIdle = 10_000

/** Reads a stream of chunks by byte count. A loop over it that does not advance fails instead of never ending. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #signal: AbortSignal | undefined
  readonly #destroy: (() => void) | undefined
  #buffer: Buffer = Buffer.alloc(0)
  #ended = false
  #position = 0
  #idle = 0
  readonly #stopListening: () => void
  /** Rejects the pending read, if there is one. */
  #rejectRead: ((reason: unknown) => void) | undefined

  constructor(source: AsyncIterable<Uint8Array>, {destroy, signal}: ByteReaderOptions = {}) {
    this.#source = source[Symbol.asyncIterator]()
    this.#destroy = destroy
    this.#signal = signal
    this.#stopListening = onAbort(signal, () => this.#abort())
  }

  /** The next bytes, without consuming them; fewer at the end. */
  async peek(length: number): Promise<Buffer> {
    if (++this.#idle > maxIdle) throw new Error(`The decoder made no progress at byte ${this.#position}.`)
    await this.#fill(length)
    return this.#buffer.subarray(0, length)
  }

  /** The next bytes; fewer at the end. */
  async read(length: number): Promise<Buffer> {
    const bytes = await this.peek(length)
    this.#advance(bytes.length)
    return bytes
  }

  async skip(length: number): Promise<void> {
    let left = length
    while (left > 0) {
      if (this.#buffer.length === 0) await this.#fill(1)
      if (this.#buffer.length === 0) return
      const step = Math.min(left, this.#buffer.length)
      this.#advance(step)
      left -= step
    }
  }

  /** All remaining bytes, in chunks. */
  async *rest(): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#buffer.length > 0) yield this.#take()
    while (!this.#ended) {
      await this.#fill(1)
      if (this.#buffer.length > 0) yield this.#take()
    }
  }

  async close(): Promise<void> {
    this.#ended = true
    this.#stopListening()
    const returned = this.#source.return?.()
    // A waiting iterator returns only when bytes arrive.
    if (this.#rejectRead === undefined) await returned
    else returned?.catch(() => undefined)
    this.#destroy?.()
  }

  #abort(): void {
    this.#rejectRead?.(this.#signal?.reason)
    this.close().catch(() => undefined)
  }

  #take(): Buffer {
    const bytes = this.#buffer
    this.#advance(bytes.length)
    return bytes
  }

  #advance(count: number): void {
    this.#buffer = this.#buffer.subarray(count)
    this.#position += count
    if (count > 0) this.#idle = 0
  }

  async #fill(length: number): Promise<void> {
    this.#signal?.throwIfAborted()
    const pieces = [this.#buffer]
    let have = this.#buffer.length
    while (have < length && !this.#ended) {
      const {value, done} = await this.#next()
      if (done) this.#ended = true
      else {
        pieces.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
        have += value.byteLength
      }
    }
    if (pieces.length > 1) this.#buffer = Buffer.concat(pieces)
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    return new Promise((resolve, reject) => {
      this.#rejectRead = reject
      const settled = () => {
        this.#rejectRead = undefined
      }
      this.#source.next().finally(settled).then(resolve, reject)
    })
  }
}
