import type {Readable} from 'node:stream'
import {StringDecoder} from 'node:string_decoder'
import {redactedStream} from '../log/index.js'

/** The output streams of a command. */
export type OutputSource = 'stdout' | 'stderr'

/** Output bytes as UTF-8, never cut inside a character, with their offset in the full output. */
export interface OutputPiece {
  at: number
  bytes: Buffer
}

type SourcedPiece = OutputPiece & {source: OutputSource}

export interface OutputListener {
  /** Called with each piece of the output, before it is added to what is kept. */
  onPiece?: (source: OutputSource, text: string, kept: KeptOutput) => void
  /** Called after every write. */
  onOutput?: (kept: KeptOutput) => void
}

/** Shorter pieces are joined, so that a command that writes byte by byte does not need more memory. */
const joinBytes = 4096
/** Characters of standard error that are kept for the error message. */
const lastCharacters = 4096
const maxLineLength = 300
/** Frames of a stack, the mark below a source line, and the version that Node.js prints at its end. */
const aroundError =
  /^(at (.*:\d+:\d+\)?|.* \((<anonymous>|native|index \d+)\))|\[?[\w.-]+\]?-wrapper:\d+:\d+|[\^~]+|Node\.js v\d+\.\d+\.\d+)$/

/**
 * Keeps the beginning and the end of the output of a command, both streams in order of arrival. The beginning gets a
 * quarter of the limit, the end the rest. Registered secrets are redacted, and bytes that are not UTF-8 are replaced.
 */
export class KeptOutput {
  readonly #head: SourcedPiece[] = []
  readonly #tail: SourcedPiece[] = []
  readonly #headLimit: number
  readonly #limit: number
  readonly #listener: OutputListener
  readonly #totals: Record<OutputSource, number> = {stdout: 0, stderr: 0}
  readonly #ends: (() => void)[] = []
  #headBytes = 0
  #tailBytes = 0
  #lastOfStderr = ''

  /** @param limit maximum number of bytes to keep */
  constructor(limit: number, listener: OutputListener = {}) {
    this.#limit = limit
    this.#headLimit = Math.floor(limit / 4)
    this.#listener = listener
  }

  /** Bytes written, including those that are not kept. */
  get total(): number {
    return this.#totals.stdout + this.#totals.stderr
  }

  /** Offset of the kept end. */
  get tailStart(): number {
    return this.total - this.#tailBytes
  }

  /** Bytes dropped between the kept beginning and the kept end. */
  get missing(): number {
    return this.tailStart - this.#headBytes
  }

  /** Reads a pipe to its end, including bytes that are not kept, so that the command never blocks. */
  record(source: OutputSource, pipe: Readable): void {
    const decoder = new StringDecoder('utf8')
    const redaction = redactedStream()
    pipe.on('data', (bytes: Buffer) => this.#add(source, redaction.add(decoder.write(bytes))))
    // A broken pipe counts as ended: the output received so far is complete.
    pipe.on('error', () => undefined)
    this.#ends.push(() => this.#add(source, redaction.add(decoder.end()) + redaction.end()))
  }

  /** Flushes the text held back to detect incomplete characters and secrets. */
  end(): void {
    for (const end of this.#ends.splice(0)) end()
  }

  /** The text of one stream, with a line that counts the missing bytes. */
  text(source: OutputSource): string {
    const parts = [this.#head, this.#tail].map((pieces) => pieces.filter((piece) => piece.source === source))
    const [head = '', tail = ''] = parts.map((pieces) => Buffer.concat(pieces.map(({bytes}) => bytes)).toString('utf8'))
    const kept = parts.flat().reduce((sum, {bytes}) => sum + bytes.length, 0)
    return withGap(head, this.#totals[source] - kept, tail)
  }

  /** The kept output from an offset: one piece, or two if bytes between them are missing. */
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

  /**
   * The last lines of standard error, even if they are not part of the kept output: without blank lines, and without
   * what Node.js prints around the message of an error.
   */
  lastLines(count: number): string[] {
    return this.#lastOfStderr
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '' && !aroundError.test(line))
      .slice(-count)
      .map((line) => line.slice(0, maxLineLength))
  }

  #add(source: OutputSource, text: string): void {
    if (text === '') return
    this.#listener.onPiece?.(source, text, this)
    if (source === 'stderr') this.#lastOfStderr = (this.#lastOfStderr + text).slice(-lastCharacters)
    const bytes = Buffer.from(text)
    const at = this.total
    this.#totals[source] += bytes.length
    // Once later output has been added to the end, the beginning stays as it is.
    const room = at === this.#headBytes ? this.#headLimit - this.#headBytes : 0
    const split = characterStart(bytes, room)
    this.#headBytes += split
    append(this.#head, {source, at, bytes: bytes.subarray(0, split)})
    this.#tailBytes += bytes.length - split
    append(this.#tail, {source, at: at + split, bytes: bytes.subarray(split)})
    this.#trimTail()
    this.#listener.onOutput?.(this)
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

/** The largest offset, at most the given one, that does not cut a character. */
function characterStart(bytes: Buffer, offset: number): number {
  let start = Math.min(offset, bytes.length)
  while (start > 0 && isContinuation(bytes[start])) start--
  return start
}

/** The smallest offset, at least the given one, that does not cut a character. */
function characterEnd(bytes: Buffer, offset: number): number {
  let end = Math.min(offset, bytes.length)
  while (isContinuation(bytes[end])) end++
  return end
}

/** Joins two parts of an output with a line that counts the bytes missing between them. */
export const withGap = (before: string, missing: number, after: string): string =>
  missing === 0 ? before + after : `${endLine(before)}[${missing} bytes are missing here]\n${after}`

const endLine = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
