import {isUtf8} from 'node:buffer'

export interface BrokenLine {
  problem: 'too_long' | 'not_utf8'
  /** Start of the line. */
  head: string
}

/** Line without its line end, or a broken line. */
export type Line = string | BrokenLine

const lf = 10
const cr = 13
const space = 32
/** Bytes kept of a broken line, to detect its form. */
const headBytes = 256

/**
 * Splits bytes into lines. Lines end with LF or CRLF; blank lines are ignored. A line above the limit is reported once
 * and skipped, without using more memory than the limit.
 */
export class LineReader {
  /** Maximum length of a line, bytes. */
  maxBytes: number
  /** Buffer of an incomplete line. Grows by doubling, to avoid quadratic copying. */
  #partial: Buffer = Buffer.alloc(0)
  #length = 0
  #isSkipping = false

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  push(chunk: Buffer): Line[] {
    const lines: Line[] = []
    let from = 0
    if (this.#length > 0 || this.#isSkipping) {
      const end = chunk.indexOf(lf)
      this.#keep(end === -1 ? chunk : chunk.subarray(0, end), lines)
      if (end === -1) return lines
      this.#complete(lines)
      from = end + 1
    }
    const last = chunk.lastIndexOf(lf)
    if (last >= from) {
      this.#readBlock(chunk.subarray(from, last), lines)
      from = last + 1
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from), lines)
    return lines
  }

  /** True if the last chunk ended within a line. */
  get isWithinLine(): boolean {
    return this.#length > 0 || this.#isSkipping
  }

  /** Returns the last line if the input did not end with LF. */
  end(): Line[] {
    const lines: Line[] = []
    this.#complete(lines)
    return lines
  }

  /** Reads complete lines: all at once if they are valid, otherwise one by one. */
  #readBlock(block: Buffer, lines: Line[]): void {
    if (block.length <= this.maxBytes && isUtf8(block)) {
      for (const line of block.toString('utf8').split('\n')) if (!isBlank(line)) lines.push(withoutCr(line))
      return
    }
    for (let from = 0; from <= block.length; ) {
      const end = block.indexOf(lf, from)
      const to = end === -1 ? block.length : end
      this.#readOne(block.subarray(from, to), lines)
      from = to + 1
    }
  }

  #readOne(bytes: Buffer, lines: Line[]): void {
    if (bytes.length > this.maxBytes) lines.push(broken('too_long', bytes))
    else if (!isUtf8(bytes)) lines.push(broken('not_utf8', bytes))
    else {
      const line = bytes.toString('utf8')
      if (!isBlank(line)) lines.push(withoutCr(line))
    }
  }

  #keep(piece: Buffer, lines: Line[]): void {
    if (this.#isSkipping) return
    const length = this.#length + piece.length
    if (length > this.maxBytes) {
      const head = Buffer.concat([
        this.#partial.subarray(0, Math.min(this.#length, headBytes)),
        piece.subarray(0, headBytes),
      ])
      lines.push(broken('too_long', head))
      this.#isSkipping = true
      this.#forget()
      return
    }
    if (length > this.#partial.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.maxBytes, Math.max(length, 2 * this.#partial.length)))
      this.#partial.copy(grown, 0, 0, this.#length)
      this.#partial = grown
    }
    piece.copy(this.#partial, this.#length)
    this.#length = length
  }

  #complete(lines: Line[]): void {
    if (this.#isSkipping) this.#isSkipping = false
    else if (this.#length > 0) this.#readOne(this.#partial.subarray(0, this.#length), lines)
    this.#forget()
  }

  #forget(): void {
    this.#partial = Buffer.alloc(0)
    this.#length = 0
  }
}

const broken = (problem: BrokenLine['problem'], bytes: Buffer): BrokenLine => ({
  problem,
  head: bytes.subarray(0, headBytes).toString('latin1'),
})

const isBlank = (line: string): boolean => {
  // Fast path: nearly every line starts with a bracket.
  if (line.charCodeAt(0) > space) return false
  return line.trim() === ''
}

const withoutCr = (line: string): string => (line.charCodeAt(line.length - 1) === cr ? line.slice(0, -1) : line)
