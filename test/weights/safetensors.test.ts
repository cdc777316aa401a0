import assert from 'node:assert/strict'
import {truncate, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {readJsonObject, readSafetensorsHeader, readTensorFloat32} from '../../src/weights/index.js'
import {floatBytes, lfsPointer, safetensorsFile, withHeader} from '../support/safetensors-file.js'
import {temporaryFolder} from '../support/temporary.js'

async function fileOf(test: TestContext, bytes: Uint8Array): Promise<string> {
  const file = join(await temporaryFolder(test), 'model.safetensors')
  await writeFile(file, bytes)
  return file
}

const entry = (changes: object) => JSON.stringify({w: {dtype: 'F32', shape: [2], data_offsets: [0, 8], ...changes}})
const eightBytes = new Uint8Array(8)

function lengthPrefix(length: bigint): Uint8Array {
  const bytes = Buffer.alloc(16)
  bytes.writeBigUInt64LE(length)
  return bytes
}

const hostile: readonly [string, Uint8Array, RegExp][] = [
  ['an empty file', new Uint8Array(), /has 0 bytes/],
  ['a file of seven bytes', new Uint8Array(7), /has 7 bytes/],
  ['a header longer than the file', lengthPrefix(1000n), /a length of 1000 bytes, but the file has 16/],
  [
    'a header of more than 100 MB',
    lengthPrefix(100_000_001n),
    /a length of 100000001 bytes, and the maximum is 100000000/,
  ],
  ['a header of 2^64 - 1 bytes', lengthPrefix(2n ** 64n - 1n), /the maximum is 100000000/],
  ['a header that is not UTF-8', Buffer.concat([lengthPrefix(8n).subarray(0, 8), Buffer.alloc(8, 0xff)]), /not UTF-8/],
  ['a header that is not JSON', withHeader('{"w": '), /not a JSON object/],
  ['a header that is an array', withHeader('[1]'), /not a JSON object/],
  ['a header that is null', withHeader('null'), /not a JSON object/],
  ['a tensor that is not an object', withHeader('{"w": 3}'), /tensor w has no dtype/],
  ['a tensor that is null', withHeader('{"w": null}'), /tensor w has no dtype/],
  ['a dtype that is not a string', withHeader(entry({dtype: 7}), eightBytes), /tensor w has no dtype/],
  ['a negative dimension', withHeader(entry({shape: [-2]}), eightBytes), /no valid shape/],
  ['a fractional dimension', withHeader(entry({shape: [1.5]}), eightBytes), /no valid shape/],
  ['a shape that overflows', withHeader(entry({shape: [2 ** 40, 2 ** 40]}), eightBytes), /its shape and dtype need/],
  ['a missing shape', withHeader(entry({shape: undefined}), eightBytes), /no valid shape/],
  ['three offsets', withHeader(entry({data_offsets: [0, 4, 8]}), eightBytes), /no valid offsets/],
  ['negative offsets', withHeader(entry({data_offsets: [-8, 0]}), eightBytes), /no valid offsets/],
  ['reversed offsets', withHeader(entry({data_offsets: [8, 0]}), eightBytes), /byte range 8 to 0/],
  ['offsets past the end', withHeader(entry({data_offsets: [4, 12]}), eightBytes), /the data has 8/],
  ['fewer bytes than the shape needs', withHeader(entry({shape: [3]}), eightBytes), /has 8 bytes, .* need 12/],
  ['more bytes than the shape needs', withHeader(entry({shape: [1]}), eightBytes), /has 8 bytes, .* need 4/],
  [
    'overlapping tensors',
    withHeader(
      JSON.stringify({
        a: {dtype: 'F32', shape: [2], data_offsets: [0, 8]},
        b: {dtype: 'F32', shape: [2], data_offsets: [4, 12]},
      }),
      new Uint8Array(12),
    ),
    /tensors a and b overlap/,
  ],
]

const pointers: readonly [string, RegExp][] = [
  [lfsPointer(988_097_824), /model\.safetensors is only a Git LFS pointer to a file of 988097824 bytes, which/],
  ['version https://hawser.github.com/spec/v1\r\noid sha256:00\r\nsize 7\r\n', /a file of 7 bytes/],
  ['version https://git-lfs.github.com/spec/v1\n', /only a Git LFS pointer, which was not downloaded/],
]

describe('an invalid safetensors file', () => {
  for (const [name, bytes, reason] of hostile)
    it(`is rejected: ${name}`, async (test) => {
      const file = await fileOf(test, bytes)
      await assert.rejects(readSafetensorsHeader(file), {code: 'safetensors_invalid', message: reason})
    })

  it('is rejected if it has shrunk since its header was read', async (test) => {
    const file = await fileOf(test, safetensorsFile({w: {dtype: 'F32', shape: [2], data: eightBytes}}))
    const [tensor] = await readSafetensorsHeader(file)
    assert.ok(tensor)
    await truncate(file, tensor.offset + 4)
    await assert.rejects(readTensorFloat32(tensor), {code: 'safetensors_invalid', message: /ends at byte/})
  })

  it('is reported as a Git LFS pointer if it is one', async (test) => {
    for (const [text, message] of pointers) {
      const file = await fileOf(test, Buffer.from(text))
      await assert.rejects(readSafetensorsHeader(file), {code: 'lfs_pointer', message})
      await assert.rejects(readJsonObject(file), {code: 'lfs_pointer', message})
    }
  })

  it('is reported if it is a folder or does not exist', async (test) => {
    const folder = await temporaryFolder(test)
    await assert.rejects(readSafetensorsHeader(join(folder, 'none')), {code: 'file_not_found'})
    await assert.rejects(readSafetensorsHeader(folder), {code: 'file_unreadable'})
  })
})

describe('a valid safetensors file', () => {
  const values = Float32Array.of(0, 1, -2.5, 65504, 2 ** -24, -(2 ** -14), Infinity, -Infinity)

  it('lists the location of each tensor, without the metadata', async (test) => {
    const json = JSON.stringify({
      __metadata__: {format: 'pt'},
      empty: {dtype: 'F32', shape: [0, 4], data_offsets: [0, 0]},
      scalar: {dtype: 'BF16', shape: [], data_offsets: [0, 2]},
      w: {dtype: 'I64', shape: [1, 2], data_offsets: [2, 18]},
    })
    const file = await fileOf(test, withHeader(json, new Uint8Array(18)))
    const tensors = await readSafetensorsHeader(file)
    assert.deepEqual(
      tensors.map(({name, dtype, shape, length}) => [name, dtype, shape, length]),
      [
        ['empty', 'F32', [0, 4], 0],
        ['scalar', 'BF16', [], 2],
        ['w', 'I64', [1, 2], 16],
      ],
    )
    assert.equal((tensors[2]?.offset ?? 0) - (tensors[1]?.offset ?? 0), 2, 'offsets count from the start of the file')
  })

  for (const dtype of ['F32', 'BF16'] as const)
    it(`reads ${dtype} values`, async (test) => {
      const data = floatBytes(values, dtype)
      const file = await fileOf(test, safetensorsFile({w: {dtype, shape: [8], data}}))
      const [tensor] = await readSafetensorsHeader(file)
      assert.ok(tensor)
      const read = await readTensorFloat32(tensor)
      const expected = dtype === 'F32' ? values : values.map((value) => (value === 65504 ? 65280 : value))
      assert.deepEqual(read, expected)
    })

  it('reads F16 values: normal, subnormal, infinite and not a number', async (test) => {
    const bits = Uint16Array.of(0x0000, 0x3c00, 0xc100, 0x7bff, 0x0001, 0x8400, 0x7c00, 0xfc00, 0x7e00)
    const file = await fileOf(test, safetensorsFile({w: {dtype: 'F16', shape: [9], data: new Uint8Array(bits.buffer)}}))
    const [tensor] = await readSafetensorsHeader(file)
    assert.ok(tensor)
    assert.deepEqual(await readTensorFloat32(tensor), Float32Array.of(...values, Number.NaN))
  })

  it('may have tensors of other dtypes, of any size, which cannot be read', async (test) => {
    for (const dtype of ['F8_E8M0', 'F4', 'C64', 'F7', 'toString']) {
      const file = await fileOf(test, withHeader(entry({dtype}), eightBytes))
      const [tensor] = await readSafetensorsHeader(file)
      assert.deepEqual([tensor?.dtype, tensor?.shape, tensor?.length], [dtype, [2], 8])
      assert.ok(tensor)
      await assert.rejects(readTensorFloat32(tensor), {code: 'tensor_dtype', message: new RegExp(`w .* ${dtype}; `)})
    }
  })

  it('does not convert integers to floats', async (test) => {
    const file = await fileOf(test, safetensorsFile({w: {dtype: 'I32', shape: [2], data: eightBytes}}))
    const [tensor] = await readSafetensorsHeader(file)
    assert.ok(tensor)
    await assert.rejects(readTensorFloat32(tensor), {code: 'tensor_dtype', message: /w .* I32; .* F32, F16, BF16/})
  })
})
