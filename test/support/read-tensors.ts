import {readFile} from 'node:fs/promises'
import type {FloatDtype} from './safetensors-file.js'

/** A tensor of a file, read without the code under test. */
export interface ReadTensor {
  dtype: FloatDtype
  shape: number[]
  values: Float64Array
}

/** All tensors of a float safetensors file. */
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
        return [name, {dtype, shape, values: valuesOf(buffer, dtype)}]
      },
    ),
  )
}

function valuesOf(bytes: ArrayBufferLike, dtype: FloatDtype): Float64Array {
  if (dtype === 'F32') return new Float64Array(new Float32Array(bytes))
  const halves = new Uint16Array(bytes)
  if (dtype === 'F16') return Float64Array.from(halves, halfValue)
  return new Float64Array(new Float32Array(Uint32Array.from(halves, (bits) => bits * 65_536).buffer))
}

function halfValue(bits: number): number {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023]
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25)
}
