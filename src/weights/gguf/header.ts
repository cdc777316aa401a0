import {type FileHandle, open} from 'node:fs/promises'
import {counted, SvcError} from '../../errors/index.js'
import {refusePointer} from '../lfs-pointer.js'

/** A value of the metadata. 64-bit integers are numbers; those beyond 2^53 are rounded. */
export type GgufValue = number | boolean | string | readonly GgufValue[]

export type GgufMetadata = ReadonlyMap<string, GgufValue>

/** A tensor of a file. */
export interface GgufTensor {
  name: string
  /** Number of its type in ggml. */
  type: number
  /** Row-major, as in safetensors files: the reverse of the order in the file. */
  shape: readonly number[]
  /** From the start of the file, bytes. */
  offset: number
}

export interface GgufHeader {
  metadata: GgufMetadata
  tensors: readonly GgufTensor[]
  /** Size of the file, bytes. */
  size: number
  /** Where the entries of the metadata start and end in the file, bytes. */
  places: ReadonlyMap<string, readonly [start: number, end: number]>
  /** Of the data of tensors, bytes. */
  alignment: number
}

export const ggufInvalid = (file: string, reason: string) => new SvcError('gguf_invalid', {file, reason})
export const ggufUnsupported = (file: string, feature: string) => new SvcError('gguf_unsupported', {file, feature})

const magic = 0x46554747
export const defaultAlignment = 32
/** Nesting of lists in metadata. */
const maxDepth = 4
/** The headers of the largest models have about 20 MB. */
const maxHeaderBytes = 1 << 29
const maxDimensions = 8

/**
 * Reads the metadata and the list of tensors of a GGUF file of version 2 or 3, without its data.
 * Source: the format description of ggml.
 * @throws gguf_invalid, gguf_unsupported, lfs_pointer, file_not_found, file_unreadable
 */
export async function readGgufHeader(file: string): Promise<GgufHeader> {
  const handle = await open(file).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  try {
    const {size} = await handle.stat()
    return await parseHeader(new Cursor(file, handle, size), file, size)
  } finally {
    await handle.close()
  }
}

async function parseHeader(cursor: Cursor, file: string, size: number): Promise<GgufHeader> {
  const start = await cursor.peek(1024)
  refusePointer(file, start.toString('latin1'))
  if (start.length < 4 || start.readUInt32LE() !== magic)
    throw ggufInvalid(file, start.length === 0 ? 'it is empty' : 'it does not start with GGUF')
  const [tensorCount, valueCount] = await cursor.read(() => {
    cursor.u32()
    const version = cursor.u32()
    if (version === 0x0200_0000 || version === 0x0300_0000) throw ggufUnsupported(file, 'big-endian byte order')
    if (version !== 2 && version !== 3) throw ggufUnsupported(file, `version ${version} of the format`)
    return [cursor.u64(), cursor.u64()]
  })
  const metadata = new Map<string, GgufValue>()
  requireFewer(file, valueCount + tensorCount, size)
  const places = new Map<string, readonly [number, number]>()
  for (let i = 0; i < valueCount; i++) {
    const start = cursor.position
    const [key, value] = await cursor.read(() => [cursor.text(), readValue(cursor, file)])
    metadata.set(key, value)
    places.set(key, [start, cursor.position])
  }
  const tensors: GgufTensor[] = []
  for (let i = 0; i < tensorCount; i++) tensors.push(await cursor.read(() => readTensor(cursor, file)))
  const alignment = metadata.get('general.alignment') ?? defaultAlignment
  if (typeof alignment !== 'number' || !Number.isSafeInteger(alignment) || alignment < 1)
    throw ggufInvalid(file, `its alignment is ${JSON.stringify(alignment)}`)
  const dataStart = Math.ceil(cursor.position / alignment) * alignment
  const placed = tensors.map((tensor) => ({...tensor, offset: dataStart + tensor.offset}))
  return {metadata, tensors: placed, size, places, alignment}
}

/** Each entry has several bytes. */
function requireFewer(file: string, count: number, size: number): void {
  if (count > size)
    throw ggufInvalid(file, `its header declares ${counted(count, 'entry', 'entries')}, but the file has ${size} bytes`)
}

function readTensor(cursor: Cursor, file: string): GgufTensor {
  const name = cursor.text()
  const count = cursor.u32()
  if (count > maxDimensions) throw ggufInvalid(file, `the tensor ${name} has ${count} dimensions`)
  const shape = Array.from({length: count}, () => cursor.u64()).reverse()
  return {name, shape, type: cursor.u32(), offset: cursor.u64()}
}

/** Readers of scalars by the number of their type. */
const scalars: readonly ((cursor: Cursor) => GgufValue)[] = [
  (cursor) => cursor.u8(),
  (cursor) => (cursor.u8() << 24) >> 24,
  (cursor) => cursor.u16(),
  (cursor) => (cursor.u16() << 16) >> 16,
  (cursor) => cursor.u32(),
  (cursor) => cursor.u32() | 0,
  (cursor) => cursor.f32(),
  (cursor) => cursor.u8() !== 0,
  (cursor) => cursor.text(),
]
const listType = 9
const laterScalars: readonly ((cursor: Cursor) => GgufValue)[] = [
  (cursor) => cursor.u64(),
  (cursor) => cursor.i64(),
  (cursor) => cursor.f64(),
]

function readValue(cursor: Cursor, file: string, type = cursor.u32(), depth = 0): GgufValue {
  const scalar = type > listType ? laterScalars[type - listType - 1] : scalars[type]
  if (scalar !== undefined) return scalar(cursor)
  if (type !== listType) throw ggufUnsupported(file, `the type ${type} of metadata`)
  if (depth === maxDepth) throw ggufInvalid(file, `its metadata has lists of more than ${maxDepth} levels`)
  const items = cursor.u32()
  const count = cursor.u64()
  const list: GgufValue[] = []
  for (let i = 0; i < count; i++) list.push(readValue(cursor, file, items, depth + 1))
  return list
}

/** The bytes that were read from the file are too few for a value. */
class TooShort extends Error {}

/** Reads little-endian values from the start of a file, in growing parts. */
class Cursor {
  position = 0
  #bytes = Buffer.alloc(0)
  readonly #file: string
  readonly #handle: FileHandle
  readonly #size: number

  constructor(file: string, handle: FileHandle, size: number) {
    this.#file = file
    this.#handle = handle
    this.#size = size
  }

  /** The first bytes of the file. */
  async peek(count: number): Promise<Buffer> {
    await this.#grow()
    return this.#bytes.subarray(0, count)
  }

  /** Calls a function that reads values; calls it again if more of the file is needed. @throws gguf_invalid */
  async read<T>(values: () => T): Promise<T> {
    const start = this.position
    for (;;) {
      try {
        return values()
      } catch (error) {
        if (!(error instanceof TooShort)) throw error
      }
      this.position = start
      if (this.#bytes.length >= Math.min(this.#size, maxHeaderBytes))
        throw ggufInvalid(this.#file, `it ends at byte ${this.#bytes.length}, within its header`)
      await this.#grow()
    }
  }

  async #grow(): Promise<void> {
    const length = Math.min(this.#size, Math.max(1 << 20, 2 * this.#bytes.length), maxHeaderBytes)
    const bytes = Buffer.allocUnsafe(length)
    this.#bytes.copy(bytes)
    for (let at = this.#bytes.length; at < length; ) {
      const {bytesRead} = await this.#handle.read(bytes, at, length - at, at).catch((error: Error) => {
        throw SvcError.from(Object.assign(error, {path: this.#file}))
      })
      if (bytesRead === 0) throw ggufInvalid(this.#file, `it ends at byte ${at}, within its header`)
      at += bytesRead
    }
    this.#bytes = bytes
  }

  #take(count: number): number {
    const at = this.position
    // A length can be larger than any file.
    if (at + count > this.#bytes.length) throw new TooShort()
    this.position = at + count
    return at
  }

  u8(): number {
    return this.#bytes[this.#take(1)]!
  }

  u16(): number {
    return this.#bytes.readUInt16LE(this.#take(2))
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#take(4))
  }

  u64(): number {
    return Number(this.#bytes.readBigUInt64LE(this.#take(8)))
  }

  i64(): number {
    return Number(this.#bytes.readBigInt64LE(this.#take(8)))
  }

  f32(): number {
    return this.#bytes.readFloatLE(this.#take(4))
  }

  f64(): number {
    return this.#bytes.readDoubleLE(this.#take(8))
  }

  text(): string {
    const length = this.u64()
    const at = this.#take(length)
    return this.#bytes.toString('utf8', at, at + length)
  }
}
