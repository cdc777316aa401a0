import {readFile} from 'node:fs/promises'
import type {FloatDtype} from './safetensors-file.js'

/** One tensor of a file, read without the product's code. */
export interface ReadTensor {
  dtype: FloatDtype
  shape: number[]
  values: Float64Array
}

/** All tensors of a safetensors file of floats. */
export async function readTensors(file: string): Promise<Record<string, ReadTensor>> {
  const bytes = await readFile(file)
  const start = 8 + Number(bytes.readBigUInt64LE(0))
  const {__metadata__: _, ...header} = JSON.parse(bytes.toString('utf8', 8, start))
  return Object.fromEntries(
    Object.entries<{dtype: FloatDtype; shape: number[]; data_offsets: [number, number]}>(header).map(
      ([
        name,
        {
          dtype,
          shape,
          data_offsets: [from, to],
        },
      ]) => {
        const {buffer} = Uint8Array.prototype.slice.call(bytes, start + from, start + to)
        const bits = dtype === 'F32' ? new Uint32Array(buffer) : new Uint16Array(buffer)
        return [name, {dtype, shape, values: Float64Array.from(bits, (word) => toNumber(word, dtype))}]
      },
    ),
  )
}

function toNumber(bits: number, dtype: FloatDtype): number {
  if (dtype === 'F16') {
    const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023]
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25)
  }
  const view = new DataView(new ArrayBuffer(4))
  view.setUint32(0, dtype === 'BF16' ? bits * 65536 : bits)
  return view.getFloat32(0)
}
