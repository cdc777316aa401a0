import {type FileHandle, open} from 'node:fs/promises'
import {isObject} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {dtypeBytes, isDtype} from './dtype.js'
import {refusePointer} from './lfs-pointer.js'
import type {StoredOrder} from './stored-order.js'

/** Location of a tensor; `offset` and `length` are in bytes, from the start of the file. */
export interface TensorEntry {
  readonly name: string
  /** Also one that is not a `Dtype`: such a tensor can be copied, but not read. */
  readonly dtype: string
  readonly shape: readonly number[]
  readonly file: string
  readonly offset: number
  readonly length: number
  /** The order of its rows or columns in the file; what is read from it has that of transformers. */
  readonly order?: StoredOrder | undefined
  /**
   * What is to be subtracted from each value, as in norms in GGUF files of Gemma. It is not in what is read from it.
   */
  readonly surplus?: number | undefined
  /** Whether the file has -exp(x) of each value x, as of decays in GGUF files. */
  readonly isNegativeExp?: boolean | undefined
}

/** The format's limit for headers, 100 MB. */
const maxHeaderBytes = 100_000_000
const prefixBytes = 8

/**
 * Reads and validates the header of a safetensors file, without its data. Layout: 8-byte little-endian header length,
 * JSON header, data. Source: the format specification by Hugging Face.
 * @throws safetensors_invalid, lfs_pointer, file_not_found, file_unreadable
 */
export async function readSafetensorsHeader(file: string): Promise<TensorEntry[]> {
  const handle = await open(file).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  try {
    return parseHeader(file, await readHeader(file, handle), (await handle.stat()).size)
  } finally {
    await handle.close()
  }
}

interface Header {
  json: string
  dataStart: number
}

async function readHeader(file: string, handle: FileHandle): Promise<Header> {
  const {size} = await handle.stat()
  if (size < prefixBytes) throw invalid(file, `it has ${size} bytes, too few for a header`)
  const start = await readRange(file, handle, 0, Math.min(size, 1024))
  refusePointer(file, Buffer.from(start).toString('latin1'))
  const prefix = new DataView(start)
  const length = Number(prefix.getBigUint64(0, true))
  if (length > maxHeaderBytes)
    throw invalid(file, `its header declares a length of ${length} bytes, and the maximum is ${maxHeaderBytes}`)
  if (prefixBytes + length > size)
    throw invalid(file, `its header declares a length of ${length} bytes, but the file has ${size}`)
  const bytes = await readRange(file, handle, prefixBytes, length)
  try {
    const json = new TextDecoder('utf-8', {fatal: true}).decode(bytes)
    return {json, dataStart: prefixBytes + length}
  } catch {
    throw invalid(file, 'its header is not UTF-8')
  }
}

function parseHeader(file: string, {json, dataStart}: Header, fileSize: number): TensorEntry[] {
  const header = parseObject(json)
  if (header === undefined) throw invalid(file, 'its header is not a JSON object')
  const dataBytes = fileSize - dataStart
  const entries = Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, entry]) => parseEntry(file, name, entry, dataStart, dataBytes))
  refuseOverlap(file, entries)
  return entries
}

function parseEntry(file: string, name: string, entry: unknown, dataStart: number, dataBytes: number): TensorEntry {
  const {dtype, shape, data_offsets: offsets} = (entry ?? {}) as Record<string, unknown>
  if (typeof dtype !== 'string') throw invalid(file, `the tensor ${name} has no dtype`)
  if (!isSizes(shape)) throw invalid(file, `the tensor ${name} has no valid shape`)
  if (!isSizes(offsets) || offsets.length !== 2) throw invalid(file, `the tensor ${name} has no valid offsets`)
  const [start, end] = offsets as [number, number]
  if (start > end || end > dataBytes)
    throw invalid(file, `the tensor ${name} has the byte range ${start} to ${end}, but the data has ${dataBytes} bytes`)
  const length = end - start
  // The size of a dtype of a later version of the format is not known; only tensors that are not used may have one.
  const expected = isDtype(dtype) ? elements(shape) * dtypeBytes(dtype) : length
  if (length !== expected)
    throw invalid(file, `the tensor ${name} has ${length} bytes, but its shape and dtype need ${expected}`)
  return {name, dtype, shape, file, offset: dataStart + start, length}
}

/** Number of elements of a shape. */
export const elements = (shape: readonly number[]): number => shape.reduce((product, dim) => product * dim, 1)

function refuseOverlap(file: string, entries: readonly TensorEntry[]): void {
  const sorted = entries.filter(({length}) => length > 0).sort((a, b) => a.offset - b.offset)
  for (const [i, entry] of sorted.entries()) {
    const next = sorted[i + 1]
    if (next !== undefined && entry.offset + entry.length > next.offset)
      throw invalid(file, `the tensors ${entry.name} and ${next.name} overlap`)
  }
}

const isSizes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0)

function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(json)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const invalid = (file: string, reason: string) => new SvcError('safetensors_invalid', {file, reason})

/** Reads exactly `length` bytes from `offset`. */
export async function readRange(
  file: string,
  handle: FileHandle,
  offset: number,
  length: number,
): Promise<ArrayBuffer> {
  const buffer = new ArrayBuffer(length)
  const bytes = new Uint8Array(buffer)
  for (let at = 0; at < length; ) {
    const {bytesRead} = await handle.read(bytes, at, length - at, offset + at).catch((error: Error) => {
      throw SvcError.from(Object.assign(error, {path: file}))
    })
    if (bytesRead === 0) throw invalid(file, `it ends at byte ${offset + at}, within its data`)
    at += bytesRead
  }
  return buffer
}

/**
 * Reads the bytes of a tensor in chunks of `size`; the last one may be shorter.
 * @throws safetensors_invalid if the file has shrunk
 */
export async function* readTensorBytes({file, offset, length}: TensorEntry, size: number): AsyncGenerator<Uint8Array> {
  const handle = await open(file)
  try {
    for (let at = 0; at < length; at += size)
      yield new Uint8Array(await readRange(file, handle, offset + at, Math.min(size, length - at)))
  } finally {
    await handle.close()
  }
}
