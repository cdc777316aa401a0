import {aligned} from '../tensor-file.js'
import type {GgufValue} from './header.js'

/** A value of the metadata, with its type in the format. */
export type GgufEntry =
  | {u32: number}
  | {f32: number}
  | {flag: boolean}
  | {text: string}
  | {texts: readonly string[]}
  | {integers: readonly number[]}
  | {floats: readonly number[]}

/** What a reader finds. */
export const entryValue = (entry: GgufEntry): GgufValue => Object.values(entry)[0] as GgufValue

/** A tensor in the list of a file. */
export interface ListedTensor {
  name: string
  /** Number of its type in ggml. */
  type: number
  /** Row-major; the file has the reverse. */
  shape: readonly number[]
  /** Bytes. */
  length: number
}

const version = 3

/**
 * The part of a file before the data: metadata and the list of tensors, in whose order the data must follow.
 * Source: the format description of ggml.
 * @param entries by key; bytes are an entry with its key, as in another file
 */
export function ggufHead(
  entries: ReadonlyMap<string, GgufEntry | Buffer>,
  tensors: readonly ListedTensor[],
  alignment: number,
): Buffer {
  const head = new Encoder().raw(Buffer.from('GGUF')).u32(version).u64(tensors.length).u64(entries.size)
  for (const [key, entry] of entries) {
    if (Buffer.isBuffer(entry)) head.raw(entry)
    else writeEntry(head.text(key), entry)
  }
  let offset = 0
  for (const {name, type, shape, length} of tensors) {
    head.text(name).u32(shape.length)
    for (const dim of [...shape].reverse()) head.u64(dim)
    head.u32(type).u64(offset)
    offset += aligned(length, alignment)
  }
  return head.finish(alignment)
}

/** Numbers of the types of values. */
const types = {u32: 4, i32: 5, f32: 6, flag: 7, text: 8, list: 9}

function writeEntry(head: Encoder, entry: GgufEntry): void {
  const list = <T>(type: number, items: readonly T[], write: (item: T) => void) => {
    head.u32(types.list).u32(type).u64(items.length)
    for (const item of items) write(item)
  }
  if ('u32' in entry) head.u32(types.u32).u32(entry.u32)
  else if ('f32' in entry) head.u32(types.f32).f32(entry.f32)
  else if ('flag' in entry) head.u32(types.flag).raw(Buffer.of(Number(entry.flag)))
  else if ('text' in entry) head.u32(types.text).text(entry.text)
  else if ('texts' in entry) list(types.text, entry.texts, (item) => head.text(item))
  else if ('integers' in entry) list(types.i32, entry.integers, (item) => head.i32(item))
  else list(types.f32, entry.floats, (item) => head.f32(item))
}

/** Collects little-endian values. */
class Encoder {
  readonly #parts: Buffer[] = []
  #length = 0

  raw(part: Buffer): this {
    this.#parts.push(part)
    this.#length += part.length
    return this
  }

  #number(size: number, write: (part: Buffer) => void): this {
    const part = Buffer.allocUnsafe(size)
    write(part)
    return this.raw(part)
  }

  u32 = (value: number): this => this.#number(4, (part) => part.writeUInt32LE(value))

  i32 = (value: number): this => this.#number(4, (part) => part.writeInt32LE(value))

  f32 = (value: number): this => this.#number(4, (part) => part.writeFloatLE(value))

  u64 = (value: number): this => this.#number(8, (part) => part.writeBigUInt64LE(BigInt(value)))

  text(value: string): this {
    const part = Buffer.from(value)
    return this.u64(part.length).raw(part)
  }

  finish(alignment: number): Buffer {
    return this.raw(Buffer.alloc(aligned(this.#length, alignment) - this.#length)) && Buffer.concat(this.#parts)
  }
}
