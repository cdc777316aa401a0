import {readSync} from 'node:fs'
import {open} from 'node:fs/promises'
import {SvcError} from '../../errors/index.js'
import {refusePointerFile} from '../../weights/index.js'
import {type GgmlType, ggmlBytes, ggmlTypes} from './ggml-types.js'

/** The header of a whisper.cpp file. */
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
  /** In PyTorch order: innermost dimension last. */
  shape: number[]
  /** Offset and length of its data in the file, bytes. */
  offset: number
  length: number
}

export interface GgmlFile {
  header: GgmlHeader
  /** Bytes of the tokens in the order of their ids, without special tokens. */
  tokens: Buffer[]
  tensors: GgmlTensor[]
}

/** Magic number, little-endian. */
export const ggmlMagic = 0x6767_6d6c

/** Maximum plausible sizes; a file beyond them is invalid. */
const maxTokens = 200_000
const maxTokenBytes = 1024
const maxTensors = 10_000
const maxDimension = 1 << 24

/** The header fields after the magic number, in file order, with their maximum values. */
const headerFields = {
  vocabSize: maxTokens,
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
 * Reads a whisper.cpp model file (`ggml-*.bin`) without its weights: sizes, tokens and the location of each tensor. The
 * mel filters are skipped, because they are determined by their number. Source of the format: whisper.cpp.
 * @throws model_file_invalid, lfs_pointer, file_not_found, file_unreadable
 */
export async function readGgmlFile(file: string): Promise<GgmlFile> {
  const handle = await open(file).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  try {
    const reader = new FieldReader(handle.fd, file, (await handle.stat()).size)
    if (reader.integer() !== ggmlMagic) {
      await refusePointerFile(file)
      throw reader.invalid('it does not start with the magic number of whisper.cpp files')
    }
    const header = readHeader(reader)
    const [bins, bands] = [reader.count(1024), reader.count(1024)]
    reader.skip(4 * bins * bands)
    const tokens: Buffer[] = []
    for (let left = reader.count(maxTokens); left > 0; left--) tokens.push(reader.bytes(reader.count(maxTokenBytes)))
    return {header, tokens, tensors: readTensors(reader)}
  } finally {
    await handle.close()
  }
}

function readHeader(reader: FieldReader): GgmlHeader {
  const fields: Record<string, number> = {}
  for (const [field, max] of Object.entries(headerFields)) {
    const value = reader.integer()
    if (value < 1 || value > max) throw reader.invalid(`its ${field} is ${value}`)
    fields[field] = value
  }
  // Skip the type of most tensors; each tensor contains its own type.
  reader.integer()
  const {textState, ...header} = fields as unknown as GgmlHeader & {textState: number}
  if (textState !== header.hiddenSize)
    throw reader.invalid(`its encoder has width ${header.hiddenSize}, but its decoder has width ${textState}`)
  return header
}

function readTensors(reader: FieldReader): GgmlTensor[] {
  const tensors: GgmlTensor[] = []
  while (!reader.ended) {
    if (tensors.length === maxTensors) throw reader.invalid(`it has more than ${maxTensors} tensors`)
    const [dimensions, nameLength] = [reader.count(4), reader.count(256)]
    const type = ggmlTypes[reader.integer()]
    const shape: number[] = []
    for (let i = 0; i < dimensions; i++) shape.unshift(reader.count(maxDimension))
    const name = reader.bytes(nameLength).toString('utf8')
    if (type === undefined) throw reader.invalid(`its tensor ${name} has an unknown type`)
    const length = ggmlBytes(type, shape)
    if (length === undefined) throw reader.invalid(`its tensor ${name} has an incomplete block`)
    tensors.push({name, type, shape, offset: reader.position, length})
    reader.skip(length)
  }
  return tensors
}

/**
 * Reads the fields of a file in order and checks its length. Reads are synchronous: with 100,000 fields per file, a
 * promise for each would take longer than reading.
 */
class FieldReader {
  readonly #descriptor: number
  readonly #file: string
  readonly #size: number
  #buffer: Buffer = Buffer.alloc(0)
  /** Offset of the buffer in the file. */
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

  /** @throws model_file_invalid unless the value is 0 to `max` */
  count(max: number): number {
    const value = this.integer()
    if (value < 0 || value > max) throw this.invalid(`it contains a count of ${value}, and the maximum is ${max}`)
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

  invalid(reason: string): SvcError {
    return new SvcError('model_file_invalid', {file: this.#file, reason})
  }

  #require(length: number): void {
    if (this.position + length > this.#size) throw this.invalid('it is truncated')
  }

  #load(length: number): void {
    const size = Math.min(this.#size - this.position, Math.max(length, 256 << 10))
    const buffer = Buffer.alloc(size)
    const bytesRead = readSync(this.#descriptor, buffer, 0, size, this.position)
    if (bytesRead < length) throw this.invalid('it is truncated')
    this.#buffer = buffer.subarray(0, bytesRead)
    this.#start = this.position
  }
}
