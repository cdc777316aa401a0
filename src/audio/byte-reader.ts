/** Bytes that come in pieces of any size, read as they are asked for. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #close: (() => void) | undefined
  #buffer: Buffer = Buffer.alloc(0)
  #ended = false

  /** @param close lets go of what the bytes come from, which an iterator that was never asked does not */
  constructor(source: AsyncIterable<Uint8Array>, close?: () => void) {
    this.#source = source[Symbol.asyncIterator]()
    this.#close = close
  }

  /** The next bytes, which stay unread; fewer at the end. */
  async peek(length: number): Promise<Buffer> {
    await this.#fill(length)
    return this.#buffer.subarray(0, length)
  }

  /** The next bytes; fewer at the end. */
  async read(length: number): Promise<Buffer> {
    const bytes = await this.peek(length)
    this.#buffer = this.#buffer.subarray(bytes.length)
    return bytes
  }

  /** Leaves bytes out. */
  async skip(length: number): Promise<void> {
    let left = length
    while (left > 0) {
      if (this.#buffer.length === 0) await this.#fill(1)
      if (this.#buffer.length === 0) return
      const step = Math.min(left, this.#buffer.length)
      this.#buffer = this.#buffer.subarray(step)
      left -= step
    }
  }

  /** All that is left, in pieces. */
  async *rest(): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#buffer.length > 0) yield this.#take()
    while (!this.#ended) {
      await this.#fill(1)
      if (this.#buffer.length > 0) yield this.#take()
    }
  }

  async close(): Promise<void> {
    this.#ended = true
    await this.#source.return?.()
    this.#close?.()
  }

  #take(): Buffer {
    const bytes = this.#buffer
    this.#buffer = Buffer.alloc(0)
    return bytes
  }

  async #fill(length: number): Promise<void> {
    const pieces = [this.#buffer]
    let have = this.#buffer.length
    while (have < length && !this.#ended) {
      const {value, done} = await this.#source.next()
      if (done) this.#ended = true
      else {
        pieces.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
        have += value.byteLength
      }
    }
    if (pieces.length > 1) this.#buffer = Buffer.concat(pieces)
  }
}
