/** A GGUF file in memory, written without the code under test, so that it can be invalid. */

/** A value of the metadata, with its type in the format. */
export type GgufEntry =
  | {u32: number}
  | {f32: number}
  | {flag: boolean}
  | {flags: readonly boolean[]}
  | {text: string}
  | {texts: readonly string[]}
  | {integers: readonly number[]}
  | {floats: readonly number[]}

export interface GgufFileTensor {
  name: string
  /** Number of the type in ggml. */
  type: number
  /** Row-major; the file has the reverse. */
  shape: readonly number[]
  bytes: number
}

const alignment = 32
const aligned = (size: number) => Math.ceil(size / alignment) * alignment

/** The part of a file before the data: metadata and the list of tensors, in whose order the data must follow. */
export function ggufHead(
  metadata: Readonly<Record<string, GgufEntry>>,
  tensors: readonly GgufFileTensor[],
  version = 3,
): Buffer {
  const head = new Bytes().raw(Buffer.from('GGUF')).u32(version).u64(tensors.length).u64(Object.keys(metadata).length)
  for (const [key, value] of Object.entries(metadata)) writeEntry(head.text(key), value)
  let offset = 0
  for (const {name, type, shape, bytes} of tensors) {
    head.text(name).u32(shape.length)
    for (const dim of [...shape].reverse()) head.u64(dim)
    head.u32(type).u64(offset)
    offset += aligned(bytes)
  }
  return padded(head.finish())
}

/** Data with the zeros that follow it. */
export function padded(data: Uint8Array): Buffer {
  return Buffer.concat([data, Buffer.alloc(aligned(data.length) - data.length)])
}

/** A complete file. */
export const ggufFile = (
  metadata: Readonly<Record<string, GgufEntry>>,
  tensors: readonly (Omit<GgufFileTensor, 'bytes'> & {data: Uint8Array})[],
): Buffer =>
  Buffer.concat([
    ggufHead(
      metadata,
      tensors.map(({data, ...tensor}) => ({...tensor, bytes: data.length})),
    ),
    ...tensors.map(({data}) => padded(data)),
  ])

function writeEntry(head: Bytes, entry: GgufEntry): void {
  const list = <T>(type: number, items: readonly T[], write: (item: T) => void) => {
    head.u32(9).u32(type).u64(items.length)
    for (const item of items) write(item)
  }
  if ('u32' in entry) head.u32(4).u32(entry.u32)
  else if ('f32' in entry) head.u32(6).f32(entry.f32)
  else if ('flag' in entry) head.u32(7).u8(Number(entry.flag))
  else if ('flags' in entry) list(7, entry.flags, (item) => head.u8(Number(item)))
  else if ('text' in entry) head.u32(8).text(entry.text)
  else if ('texts' in entry) list(8, entry.texts, (item) => head.text(item))
  else if ('integers' in entry) list(5, entry.integers, (item) => head.u32(item))
  else list(6, entry.floats, (item) => head.f32(item))
}

/** Builds little-endian data. */
class Bytes {
  readonly #parts: Buffer[] = []

  raw(part: Buffer): this {
    this.#parts.push(part)
    return this
  }

  u8(value: number): this {
    return this.raw(Buffer.of(value))
  }

  u32(value: number): this {
    const part = Buffer.alloc(4)
    part.writeUInt32LE(value)
    return this.raw(part)
  }

  u64(value: number): this {
    const part = Buffer.alloc(8)
    part.writeBigUInt64LE(BigInt(value))
    return this.raw(part)
  }

  f32(value: number): this {
    const part = Buffer.alloc(4)
    part.writeFloatLE(value)
    return this.raw(part)
  }

  text(value: string): this {
    const part = Buffer.from(value)
    return this.u64(part.length).raw(part)
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts)
  }
}
