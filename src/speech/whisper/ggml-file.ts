import {readSync} from 'node:fs'
import {open} from 'node:fs/promises'
import {SvcError} from '../../errors/index.js'
import {type GgmlType, ggmlBytes, ggmlTypes} from './ggml-types.js'

/** What a whisper.cpp file says of its model. */
export interface GgmlHeader {
  vocabSize: number
  audioPositions: number
  hiddenSize: number
  audioHeads: number
  audioLayers: number
  textPositions: number
  textHeads: number
  textLayers: number
  melBins: number
}

export interface GgmlTensor {
  name: string
  type: GgmlType
  /** As PyTorch counts: the innermost dimension last. */
  shape: number[]
  /** Place of its bytes in the file. */
  offset: number
  length: number
}

export interface GgmlFile {
  header: GgmlHeader
  /** Tokens as bytes, in the order of their ids; the special ones are not among them. */
  tokens: Buffer[]
  tensors: GgmlTensor[]
}

/** First bytes of every file of the format, little-endian. */
export const ggmlMagic = 0x6767_6d6c

/** Sizes beyond these are nonsense. */
const mostTokens = 200_000
const mostTokenBytes = 1024
const mostTensors = 10_000
const mostDimension = 1 << 24

/** The numbers after the magic, in the order of the file, and the most that each may be. */
const headerFields = {
  vocabSize: mostTokens,
  audioPositions: 1 << 16,
  hiddenSize: 1 << 16,
  audioHeads: 1024,
  audioLayers: 1024,
  textPositions: 1 << 16,
  textState: 1 << 16,
  textHeads: 1024,
  textLayers: 1024,
  melBins: 1024,
} as const

/**
 * Reads everything but the weights of a whisper.cpp model file (`ggml-*.bin`): sizes, mel filters (left out, since they
 * follow from their number), tokens, and where each tensor lies. Source of the format: whisper.cpp.
 * @throws model_file_invalid, file_not_found, file_unreadable
 */
export async function readGgmlFile(file: string): Promise<GgmlFile> {
  const handle = await open(file).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  try {
    const reader = new FieldReader(handle.fd, file, (await handle.stat()).size)
    if (reader.integer() !== ggmlMagic) throw reader.fault('it does not begin as a whisper.cpp file does')
    const header = readHeader(reader)
    const [bins, bands] = [reader.count(1024), reader.count(1024)]
    reader.skip(4 * bins * bands)
    const tokens: Buffer[] = []
    for (let left = reader.count(mostTokens); left > 0; left--) tokens.push(reader.bytes(reader.count(mostTokenBytes)))
    return {header, tokens, tensors: readTensors(reader)}
  } finally {
    await handle.close()
  }
}

function readHeader(reader: FieldReader): GgmlHeader {
  const fields: Record<string, number> = {}
  for (const [field, most] of Object.entries(headerFields)) {
    const value = reader.integer()
    if (value < 1 || value > most) throw reader.fault(`its ${field} is ${value}`)
    fields[field] = value
  }
  // The last number says what most tensors are stored as; each of them says it again.
  reader.integer()
  const {textState, ...header} = fields as unknown as GgmlHeader & {textState: number}
  if (textState !== header.hiddenSize)
    throw reader.fault(`its encoder is ${header.hiddenSize} wide and its decoder ${textState}`)
  return header
}

function readTensors(reader: FieldReader): GgmlTensor[] {
  const tensors: GgmlTensor[] = []
  while (!reader.ended) {
    if (tensors.length === mostTensors) throw reader.fault(`it has more than ${mostTensors} tensors`)
    const [dimensions, nameLength] = [reader.count(4), reader.count(256)]
    const type = ggmlTypes[reader.integer()]
    const shape: number[] = []
    for (let i = 0; i < dimensions; i++) shape.unshift(reader.count(mostDimension))
    const name = reader.bytes(nameLength).toString('utf8')
    if (type === undefined) throw reader.fault(`the type of its tensor ${name} is not known`)
    const length = ggmlBytes(type, shape)
    if (length === undefined) throw reader.fault(`its tensor ${name} has an incomplete block`)
    tensors.push({name, type, shape, offset: reader.position, length})
    reader.skip(length)
  }
  return tensors
}

/**
 * Fields of a file, one after the other, checked against its length. It reads synchronously: a file has 100,000 fields,
 * and a promise for each takes longer than the reading.
 */
class FieldReader {
  readonly #descriptor: number
  readonly #file: string
  readonly #size: number
  #buffer: Buffer = Buffer.alloc(0)
  /** Place of the buffer in the file. */
  #start = 0
  position = 0

  constructor(descriptor: number, file: string, size: number) {
    this.#descriptor = descriptor
    this.#file = file
    this.#size = size
  }

  get ended(): boolean {
    return this.position >= this.#size
  }

  integer(): number {
    return this.bytes(4).readInt32LE(0)
  }

  /** @throws model_file_invalid unless it is 0 to `most` */
  count(most: number): number {
    const value = this.integer()
    if (value < 0 || value > most) throw this.fault(`it says ${value} where at most ${most} makes sense`)
    return value
  }

  bytes(length: number): Buffer {
    this.#require(length)
    if (this.position < this.#start || this.position + length > this.#start + this.#buffer.length) this.#load(length)
    const at = this.position - this.#start
    this.position += length
    return Buffer.from(this.#buffer.subarray(at, at + length))
  }

  skip(length: number): void {
    this.#require(length)
    this.position += length
  }

  fault(reason: string): SvcError {
    return new SvcError('model_file_invalid', {file: this.#file, reason})
  }

  #require(length: number): void {
    if (this.position + length > this.#size) throw this.fault('it ends too soon, so it was not copied completely')
  }

  #load(length: number): void {
    const size = Math.min(this.#size - this.position, Math.max(length, 256 << 10))
    const buffer = Buffer.alloc(size)
    const bytesRead = readSync(this.#descriptor, buffer, 0, size, this.position)
    if (bytesRead < length) throw this.fault('it ends too soon, so it was not copied completely')
    this.#buffer = buffer.subarray(0, bytesRead)
    this.#start = this.position
  }
}
