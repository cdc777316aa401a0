import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {mergeAdapter} from '../../../src/weights/index.js'
import {readTensors} from '../../support/read-tensors.js'
import {type FloatDtype, floatBytes, safetensorsFile} from '../../support/safetensors-file.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {type tinyAdapter, tinyAdapterFiles, tinyModelFiles} from '../../support/tiny-model.js'

const floats = (shape: readonly number[], value: (i: number) => number, dtype: FloatDtype = 'F32') => ({
  dtype,
  shape,
  data: floatBytes(
    Float32Array.from({length: shape.reduce((a, b) => a * b, 1)}, (_, i) => value(i)),
    dtype,
  ),
})

const choices = {full: false, dtype: undefined, untie: false, overwrite: false} as const

describe('mergeAdapter', () => {
  it('adds alpha / rank * B A: every element of the specified example grows by 4', async (test) => {
    const cwd = await temporaryFolder(test)
    const manifest = {
      format: 'svc_mens_adapter',
      version: 3,
      adapter_method: 'qlora',
      quant: {base_quant: 'nf4', double_quant: true},
      base_key_map: {lm_head: 'wte.weight'},
      layer_order: ['lm_head'],
      vocab: 4,
      d_model: 3,
      rank: 2,
      alpha: 4,
    }
    await writeFiles(cwd, {
      'base.safetensors': safetensorsFile({'wte.weight': floats([4, 3], (i) => 0.1 * i)}),
      'adapter.safetensors': safetensorsFile({
        'lm_head.lora_a': floats([2, 3], () => 1),
        'lm_head.lora_b': floats([4, 2], () => 1),
      }),
      'meta.json': JSON.stringify(manifest),
    })
    const source = {base: {shards: ['base.safetensors']}, adapter: 'adapter.safetensors', meta: 'meta.json', cwd}
    await mergeAdapter({...choices, source, output: 'out.safetensors'})
    const {'wte.weight': merged, ...others} = await readTensors(join(cwd, 'out.safetensors'))
    assert.deepEqual(others, {})
    assert.equal(merged?.dtype, 'F32')
    assert.deepEqual(merged?.shape, [4, 3])
    for (const [i, value] of (merged?.values ?? []).entries()) assert.ok(Math.abs(value - (0.1 * i + 4)) < 1e-5)
  })

  for (const from of ['F32', 'BF16', 'F16'] as const)
    for (const to of [undefined, 'F32', 'BF16', 'F16'] as const)
      it(`rounds to nearest for a random adapter, from ${from} to ${to ?? from}`, async (test) => {
        const cwd = await temporaryFolder(test)
        // 6 is not a multiple of 4, so that both summation paths are used.
        const adapter = {rank: 6, alpha: 9}
        await writeFiles(cwd, {
          ...tinyModelFiles({dtype: from, layout: 'single'}),
          ...tinyAdapterFiles({}, adapter),
        })
        const source = {run: '.', ignoreEvalGate: false, cwd}
        const {changed} = await mergeAdapter({...choices, dtype: to, source, output: 'out.safetensors'})
        assert.equal(changed, 15)
        const base = await readTensors(join(cwd, 'model.safetensors'))
        const lora = await readTensors(join(cwd, 'candle_qlora_adapter.safetensors'))
        const merged = await readTensors(join(cwd, 'out.safetensors'))
        const {base_key_map: targets} = JSON.parse(tinyAdapterFiles({}, adapter)['adapter_manifest.json'] as string)
        for (const [logical, target] of Object.entries<string>(targets)) {
          const name = logical === 'lm_head' ? 'lm_head.weight' : target
          const out = merged[name]
          assert.equal(out?.dtype, to ?? from)
          const expected = ownMerge(base[name]!, lora[`${logical}.lora_a`]!, lora[`${logical}.lora_b`]!, adapter)
          const furthest = Math.max(...expected.map((value, i) => stepsBetween(value, out.values[i]!, out.dtype)))
          // The error is at most half a step, plus the rounding to 32 bits before.
          assert.ok(furthest < 0.51, `${name} is ${furthest} steps away`)
        }
      })

  it('transposes the update for the projections of GPT-2, which are stored as [in, out]', async (test) => {
    const cwd = await temporaryFolder(test)
    const target = 'h.0.attn.c_proj.weight'
    const manifest = {
      format: 'svc_mens_adapter',
      base_key_map: {mid0: target},
      layer_order: ['mid0'],
      rank: 1,
      alpha: 1,
    }
    await writeFiles(cwd, {
      'base.safetensors': safetensorsFile({[target]: floats([2, 3], () => 0)}),
      'adapter.safetensors': safetensorsFile({
        'mid0.lora_a': floats([1, 2], (i) => i + 1),
        'mid0.lora_b': floats([3, 1], (i) => 10 ** i),
      }),
      'adapter_manifest.json': JSON.stringify(manifest),
    })
    const source = {base: {shards: ['base.safetensors']}, adapter: 'adapter.safetensors', meta: undefined, cwd}
    await mergeAdapter({...choices, source, output: 'out.safetensors'})
    const {[target]: merged} = await readTensors(join(cwd, 'out.safetensors'))
    assert.deepEqual([...(merged?.values ?? [])], [1, 10, 100, 2, 20, 200])
  })

  it('merges weights larger than one block', async (test) => {
    const cwd = await temporaryFolder(test)
    // More than two blocks of 2^20 elements.
    const [rows, columns] = [2401, 900]
    const manifest = {
      format: 'svc_mens_adapter',
      base_key_map: {'l0.q': 'model.layers.0.self_attn.q_proj.weight'},
      layer_order: ['l0.q'],
      rank: 1,
      alpha: 2,
    }
    await writeFiles(cwd, {
      'base.safetensors': safetensorsFile({
        'model.layers.0.self_attn.q_proj.weight': floats([rows, columns], (i) => i % columns),
      }),
      'adapter.safetensors': safetensorsFile({
        'l0.q.lora_a': floats([1, columns], () => 1),
        'l0.q.lora_b': floats([rows, 1], (i) => i),
      }),
      'adapter_manifest.json': JSON.stringify(manifest),
    })
    const source = {base: {shards: ['base.safetensors']}, adapter: 'adapter.safetensors', meta: undefined, cwd}
    const seen: number[] = []
    const onProgress = (_: string, written: number) => seen.push(written)
    await mergeAdapter({...choices, source, output: 'out.safetensors', onProgress})
    const [merged] = Object.values(await readTensors(join(cwd, 'out.safetensors')))
    assert.ok(merged?.values.every((value, i) => value === (i % columns) + 2 * Math.floor(i / columns)))
    assert.ok(seen.length > 1)
    assert.equal(seen.at(-1), 4 * rows * columns)
  })

  it('copies tensors of any dtype, of which the size of an element is not known', async (test) => {
    const cwd = await temporaryFolder(test)
    const target = 'model.layers.0.self_attn.q_proj.weight'
    const manifest = {format: 'svc_mens_adapter', base_key_map: {q: target}, layer_order: ['q'], rank: 1, alpha: 1}
    const packed = {dtype: 'F4', shape: [4], data: Uint8Array.of(0x12, 0x34)}
    await writeFiles(cwd, {
      'config.json': '{}',
      'tokenizer.json': '{}',
      'model.safetensors': safetensorsFile({packed, [target]: floats([1, 1], () => 1)}),
      'adapter.safetensors': safetensorsFile({
        'q.lora_a': floats([1, 1], () => 2),
        'q.lora_b': floats([1, 1], () => 3),
      }),
      'adapter_manifest.json': JSON.stringify(manifest),
    })
    const source = {base: {folder: '.'}, adapter: 'adapter.safetensors', meta: undefined, cwd}
    const {bytes} = await mergeAdapter({...choices, full: true, dtype: 'BF16', source, output: 'out'})
    assert.equal(bytes, 4)
    const file = await readFile(join(cwd, 'out/model.safetensors'))
    const start = 8 + Number(file.readBigUInt64LE(0))
    const {packed: copy} = JSON.parse(file.toString('utf8', 8, start))
    assert.deepEqual(copy, {dtype: 'F4', shape: [4], data_offsets: [0, 2]})
    assert.deepEqual([...file.subarray(start, start + 2)], [0x12, 0x34])
  })

  it('fails on overflow of the dtype and leaves no file', async (test) => {
    const cwd = await temporaryFolder(test)
    const manifest = {
      format: 'svc_mens_adapter',
      base_key_map: {lm_head: 'wte.weight'},
      layer_order: ['lm_head'],
      rank: 1,
      alpha: 1,
    }
    await writeFiles(cwd, {
      'base.safetensors': safetensorsFile({'wte.weight': floats([1, 1], () => 60_000)}),
      'adapter.safetensors': safetensorsFile({
        'lm_head.lora_a': floats([1, 1], () => 100),
        'lm_head.lora_b': floats([1, 1], () => 100),
      }),
      'adapter_manifest.json': JSON.stringify(manifest),
    })
    const source = {base: {shards: ['base.safetensors']}, adapter: 'adapter.safetensors', meta: undefined, cwd}
    const merge = mergeAdapter({...choices, dtype: 'F16', source, output: 'out.safetensors'})
    await assert.rejects(merge, {code: 'tensor_overflow'})
    await assert.rejects(readTensors(join(cwd, 'out.safetensors')), {code: 'ENOENT'})
  })
})

/** W + alpha / rank * B A as 64-bit floats. */
function ownMerge(
  weight: {shape: number[]; values: Float64Array},
  a: {values: Float64Array},
  b: {values: Float64Array},
  {rank, alpha}: Pick<typeof tinyAdapter, 'rank' | 'alpha'>,
): Float64Array {
  const [, columns = 0] = weight.shape
  return weight.values.map((value, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns]
    let sum = 0
    for (let k = 0; k < rank; k++) sum += b.values[row * rank + k]! * a.values[k * columns + column]!
    return value + (alpha / rank) * sum
  })
}

/** Error of a stored value in units in the last place of the dtype. */
function stepsBetween(right: number, stored: number, dtype: FloatDtype): number {
  const {fractionBits, lowest} = {
    F32: {fractionBits: 23, lowest: -126},
    BF16: {fractionBits: 7, lowest: -126},
    F16: {fractionBits: 10, lowest: -14},
  }[dtype]
  const exponent = Math.max(lowest, Math.floor(Math.log2(Math.abs(right))))
  return Math.abs(right - stored) / 2 ** (exponent - fractionBits)
}
