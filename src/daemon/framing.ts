import {isUtf8} from 'node:buffer'

export interface BrokenLine {
  fault: 'too_long' | 'not_utf8'
  /** How it begins, as far as it can be told. */
  head: string
}

/** A line without its end, or why there is none. */
export type Line = string | BrokenLine

const lf = 10
const cr = 13
const space = 32
/** Bytes of a broken line that are kept: enough to see in which form it was meant. */
const headBytes = 256

/**
 * Makes lines of bytes. A line ends with LF; a CR before it and blank lines count for nothing. One that is longer than
 * the limit is told once and skipped up to its end, in no more memory than the limit.
 */
export class LineReader {
  /** Longest line, bytes. */
  maxBytes: number
  /** The beginning of a line whose end has not come; grows by doubling, whatever the size of the pieces. */
  #kept: Buffer = Buffer.alloc(0)
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

  /** Whether the last chunk ended within a line. */
  get isWithinLine(): boolean {
    return this.#length > 0 || this.#isSkipping
  }

  /** What the input ended with, where no LF did. */
  end(): Line[] {
    const lines: Line[] = []
    this.#complete(lines)
    return lines
  }

  /** Whole lines: read at once where nothing is wrong with any of them. */
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
        this.#kept.subarray(0, Math.min(this.#length, headBytes)),
        piece.subarray(0, headBytes),
      ])
      lines.push(broken('too_long', head))
      this.#isSkipping = true
      this.#forget()
      return
    }
    if (length > this.#kept.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.maxBytes, Math.max(length, 2 * this.#kept.length)))
      this.#kept.copy(grown, 0, 0, this.#length)
      this.#kept = grown
    }
    piece.copy(this.#kept, this.#length)
    this.#length = length
  }

  #complete(lines: Line[]): void {
    if (this.#isSkipping) this.#isSkipping = false
    else if (this.#length > 0) this.#readOne(this.#kept.subarray(0, this.#length), lines)
    this.#forget()
  }

  #forget(): void {
    this.#kept = Buffer.alloc(0)
    this.#length = 0
  }
}

const broken = (fault: BrokenLine['fault'], bytes: Buffer): BrokenLine => ({
  fault,
  head: bytes.subarray(0, headBytes).toString('latin1'),
})

const isBlank = (line: string): boolean => {
  // Nearly every line begins with a bracket.
  if (line.charCodeAt(0) > space) return false
  return line.trim() === ''
}

const withoutCr = (line: string): string => (line.charCodeAt(line.length - 1) === cr ? line.slice(0, -1) : line)
