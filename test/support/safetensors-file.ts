/** A safetensors file in memory, written without the code under test, so that it can be invalid. */
export interface FileTensor {
  dtype: string
  shape: readonly number[]
  data: Uint8Array
}

/** Tensors in sequence, like the reference writer of the format. */
export function safetensorsFile(tensors: Readonly<Record<string, FileTensor>>): Uint8Array {
  let at = 0
  const header: Record<string, unknown> = {}
  for (const [name, {dtype, shape, data}] of Object.entries(tensors)) {
    header[name] = {dtype, shape, data_offsets: [at, at + data.length]}
    at += data.length
  }
  return withHeader(JSON.stringify(header), Buffer.concat(Object.values(tensors).map(({data}) => data)))
}

/** Any header, valid or not, padded to a multiple of 8. */
export function withHeader(json: string, data: Uint8Array = new Uint8Array()): Uint8Array {
  const header = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  return Buffer.concat([length, header, data])
}

/** What Git LFS leaves in place of a file of `size` bytes that was not downloaded. */
export const lfsPointer = (size: number): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${'ab'.repeat(32)}\nsize ${size}\n`

export type FloatDtype = 'F32' | 'F16' | 'BF16'

/** Values in a float dtype; 16-bit types are rounded towards zero. */
export function floatBytes(values: Float32Array, dtype: FloatDtype): Uint8Array {
  if (dtype === 'F32') return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
  const out = new DataView(new ArrayBuffer(2 * values.length))
  const narrow = dtype === 'BF16' ? (bits: number) => bits >>> 16 : f16Bits
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length)
  for (const [i, value] of bits.entries()) out.setUint16(2 * i, narrow(value), true)
  return new Uint8Array(out.buffer)
}

function f16Bits(bits: number): number {
  const sign = (bits >>> 16) & 0x8000
  const exponent = ((bits >>> 23) & 0xff) - 127 + 15
  if (exponent <= 0) return sign
  return sign | (exponent << 10) | ((bits >>> 13) & 0x3ff)
}
