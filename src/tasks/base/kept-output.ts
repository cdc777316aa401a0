import type {Readable} from 'node:stream'
import {StringDecoder} from 'node:string_decoder'
import {redactedStream} from '../../log/index.js'

/** The pipes of a command. */
export type OutputSource = 'stdout' | 'stderr'

/** Bytes of an output, UTF-8 without half a character, and their offset in the whole. */
export interface OutputPiece {
  at: number
  bytes: Buffer
}

type SourcedPiece = OutputPiece & {source: OutputSource}

/** Pieces that are shorter are joined, so that a command which writes byte by byte takes no more memory. */
const joinBytes = 4096
/** Of standard error, for the sentence of an error; characters. */
const lastCharacters = 4096
const longestLine = 300

/**
 * The beginning and the end of what a command writes into both of its pipes, in the order of its arrival: the first
 * quarter of the limit and the last three. Registered secrets are redacted, and bytes that are no UTF-8 replaced.
 */
export class KeptOutput {
  readonly #head: SourcedPiece[] = []
  readonly #tail: SourcedPiece[] = []
  readonly #headLimit: number
  readonly #limit: number
  readonly #onGrowth: (output: KeptOutput) => void
  readonly #totals: Record<OutputSource, number> = {stdout: 0, stderr: 0}
  readonly #ends: (() => void)[] = []
  #headBytes = 0
  #tailBytes = 0
  #lastOfStderr = ''

  /** @param limit most bytes that are kept */
  constructor(limit: number, onGrowth: (output: KeptOutput) => void = () => undefined) {
    this.#limit = limit
    this.#headLimit = Math.floor(limit / 4)
    this.#onGrowth = onGrowth
  }

  /** Bytes that were written, also those that are not kept. */
  get total(): number {
    return this.#totals.stdout + this.#totals.stderr
  }

  /** Offset of the part at the end. */
  get tailStart(): number {
    return this.total - this.#tailBytes
  }

  /** Bytes between the beginning and the end that are not kept. */
  get missing(): number {
    return this.tailStart - this.#headBytes
  }

  /** Reads a pipe to its end: what is not kept is read too, so that the command never waits for a reader. */
  record(source: OutputSource, pipe: Readable): void {
    const decoder = new StringDecoder('utf8')
    const redaction = redactedStream()
    pipe.on('data', (bytes: Buffer) => this.#add(source, redaction.add(decoder.write(bytes))))
    // A pipe that breaks has ended: what came so far is what there is.
    pipe.on('error', () => undefined)
    this.#ends.push(() => this.#add(source, redaction.add(decoder.end()) + redaction.end()))
  }

  /** Adds what was held back to see whether it goes on as a character or a secret. */
  end(): void {
    for (const end of this.#ends.splice(0)) end()
  }

  /** The text of one pipe, with a line that counts the bytes that are missing. */
  text(source: OutputSource): string {
    const parts = [this.#head, this.#tail].map((pieces) => pieces.filter((piece) => piece.source === source))
    const [head = '', tail = ''] = parts.map((pieces) => Buffer.concat(pieces.map(({bytes}) => bytes)).toString('utf8'))
    const kept = parts.flat().reduce((sum, {bytes}) => sum + bytes.length, 0)
    return withGap(head, this.#totals[source] - kept, tail)
  }

  /** What is kept from an offset on: one piece, or two where bytes between them are missing. */
  since(offset: number): OutputPiece[] {
    return [this.#head, this.#tail].flatMap((pieces) => {
      const later = pieces.flatMap(({at, bytes}) => {
        const part = bytes.subarray(Math.max(0, offset - at))
        return part.length === 0 ? [] : [{at: at + bytes.length - part.length, bytes: part}]
      })
      const [first] = later
      return first === undefined ? [] : [{at: first.at, bytes: Buffer.concat(later.map(({bytes}) => bytes))}]
    })
  }

  /** The last lines of standard error that are not blank, also of what is not kept. */
  lastLines(count: number): string[] {
    return this.#lastOfStderr
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .slice(-count)
      .map((line) => line.slice(0, longestLine))
  }

  #add(source: OutputSource, text: string): void {
    if (text === '') return
    if (source === 'stderr') this.#lastOfStderr = (this.#lastOfStderr + text).slice(-lastCharacters)
    const bytes = Buffer.from(text)
    const at = this.total
    this.#totals[source] += bytes.length
    // The beginning is complete once something came after it.
    const room = at === this.#headBytes ? this.#headLimit - this.#headBytes : 0
    const split = characterStart(bytes, room)
    this.#headBytes += split
    append(this.#head, {source, at, bytes: bytes.subarray(0, split)})
    this.#tailBytes += bytes.length - split
    append(this.#tail, {source, at: at + split, bytes: bytes.subarray(split)})
    this.#trimTail()
    this.#onGrowth(this)
  }

  #trimTail(): void {
    for (;;) {
      const [first] = this.#tail
      const excess = this.#headBytes + this.#tailBytes - this.#limit
      if (first === undefined || excess <= 0) return
      const {bytes} = first
      const cut = characterEnd(bytes, excess)
      this.#tailBytes -= cut
      first.at += cut
      first.bytes = bytes.subarray(cut)
      if (first.bytes.length === 0) this.#tail.shift()
    }
  }
}

function append(pieces: SourcedPiece[], piece: SourcedPiece): void {
  if (piece.bytes.length === 0) return
  const last = pieces.at(-1)
  if (last?.source === piece.source && last.bytes.length + piece.bytes.length <= joinBytes)
    last.bytes = Buffer.concat([last.bytes, piece.bytes])
  else pieces.push(piece)
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** The latest offset, up to this one, at which no character is cut in two. */
function characterStart(bytes: Buffer, offset: number): number {
  let start = Math.min(offset, bytes.length)
  while (start > 0 && isContinuation(bytes[start])) start--
  return start
}

/** The same, from this offset on. */
function characterEnd(bytes: Buffer, offset: number): number {
  let end = Math.min(offset, bytes.length)
  while (isContinuation(bytes[end])) end++
  return end
}

/** Two parts of an output, and a line between them that counts the bytes that are missing. */
export const withGap = (before: string, missing: number, after: string): string =>
  missing === 0 ? before + after : `${endLine(before)}[${missing} bytes are missing here]\n${after}`

const endLine = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
