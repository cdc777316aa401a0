import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import type {PooledAdapter} from '../../../src/llm/adapters/adapter-pool.js'
import {type Decoder, openDecoder} from '../../../src/llm/decoder.js'
import {readDecoderSpec} from '../../../src/llm/families/index.js'
import {type Precision, withQuantised} from '../../../src/llm/precision.js'
import {hasByteProducts} from '../../../src/onnx/index.js'
import {type Adapter, openAdapter, openRunDirectory} from '../../../src/weights/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {type TinyAdapter, tinyAdapterFiles, tinyModel, writeTinyModel} from '../../support/tiny-model.js'

const model = {hiddenSize: 64, layout: 'single', tied: true} as const

/** Adapters of different ranks, scales, formats and targets. */
const adapters: readonly [changes: Partial<TinyAdapter>, targets?: RegExp][] = [
  [{}],
  [{form: 'peft', rank: 16, alpha: 32, seed: 31}],
  [{rank: 3, alpha: 3, head: false, seed: 32}],
  [{rank: 8, head: false, seed: 33}, /[qv]_proj/],
  [{form: 'peft-rs', rank: 24, seed: 34}, /layers\.1\.|embed/],
]

const steps = 12
const tokenAt = (sequence: number, position: number) => (position * 73 + sequence * 31 + 11) % tinyModel.vocabSize

interface Opened {
  plain: Decoder
  decoder: Decoder
  pooled: PooledAdapter[]
}

async function open(t: TestContext, precision: Precision, adapterCopyBytes?: number): Promise<Opened> {
  const folder = await temporaryFolder(t)
  await writeTinyModel(join(folder, 'model'), model)
  const {path, config, readConfig, tensors} = await openRunDirectory(join(folder, 'model'))
  const spec = readDecoderSpec(await readConfig(), config, (name) => tensors.has(name))
  const cache = {folder: join(folder, 'cache'), model: path, threads: 1}
  const weights = await withQuantised(spec, tensors, precision, cache)
  const openWith = async (withAdapters: boolean) => {
    const decoder = await openDecoder(spec, weights, {
      ...{contextLength: 512, threads: 1, adapters: withAdapters},
      adapterCopyBytes,
    })
    t.after(() => decoder.release())
    return decoder
  }
  const decoder = await openWith(true)
  const pooled: PooledAdapter[] = []
  for (const [i, [changes, targets = /./]] of adapters.entries()) {
    const place = join(folder, `adapter${i}`)
    await writeFiles(place, tinyAdapterFiles(model, changes))
    const {deltas, ...others} = await openAdapter(place)
    const adapter: Adapter = {...others, deltas: deltas.filter(({target}) => targets.test(target))}
    pooled.push((await decoder.adapters?.load(adapter)) as PooledAdapter)
  }
  return {plain: await openWith(false), decoder, pooled}
}

/** A sequence of a batch: its number determines its tokens. */
interface Sequence {
  number: number
  adapter: PooledAdapter | undefined
}

/** Bytes of the logits of each step of each sequence, and of its keys and values at the end. */
async function bytesOf(decoder: Decoder, sequences: readonly Sequence[]): Promise<string[]> {
  const cache = decoder.newCache()
  const length = ({number}: Sequence) => 5 + 9 * number
  for (const sequence of sequences) {
    const prompt = Array.from({length: length(sequence)}, (_, i) => tokenAt(sequence.number, i))
    await decoder.prefill(cache, cache.add(), prompt, {adapter: sequence.adapter})
  }
  const bytes = sequences.map((): Buffer[] => [])
  const add = (row: number, {buffer, byteOffset, byteLength}: Float32Array) =>
    bytes[row]?.push(Buffer.from(Buffer.from(buffer, byteOffset, byteLength)))
  for (let step = 0; step < steps; step++) {
    const tokens = sequences.map((sequence) => tokenAt(sequence.number, length(sequence) + step))
    const predictions = await decoder.step(cache, tokens, {adapters: sequences.map(({adapter}) => adapter)})
    for (const [row, {logits, top}] of predictions.entries()) {
      add(row, logits)
      add(row, top.logits)
    }
  }
  for (const row of sequences.keys())
    for (const {key, value} of cache.save(row).layers) for (const part of [key, value]) add(row, part)
  return bytes.map((parts) => Buffer.concat(parts).toString('base64'))
}

for (const precision of ['f32', 'w8', 'w4'] as const)
  describe(`sequences with different adapters in one batch, ${precision}`, () => {
    it('have the bytes of the same sequences alone, in any order and company', async (t) => {
      const {plain, decoder, pooled} = await open(t, precision)
      const sequences = [...pooled, undefined, pooled[0], undefined].map((adapter, number) => ({number, adapter}))
      // Elsewhere, one row of products with 4 bits is rounded differently from several.
      const fewest = precision === 'w4' && !hasByteProducts() ? 2 : 1
      const copies = (sequence: Sequence) => Array.from({length: fewest}, () => sequence)
      const alone: string[] = []
      for (const sequence of sequences) alone.push((await bytesOf(decoder, copies(sequence)))[0] as string)
      assert.equal(new Set(alone).size, sequences.length, 'each sequence has bytes of its own')
      const base = copies(sequences[5] as Sequence)
      assert.equal((await bytesOf(plain, base))[0], alone[5], 'without an adapter, those of a graph without adapters')
      const reversed = [...sequences].reverse()
      const pairs = sequences.map((sequence, i) => [sequence, sequences[(i + 3) % sequences.length] as Sequence])
      for (const batch of [sequences, reversed, sequences.slice(2, 7), ...pairs])
        assert.ok((await bytesOf(decoder, batch)).every((bytes, row) => bytes === alone[batch[row]?.number ?? -1]))
    })

    it('keep their bytes while other adapters come and go', async (t) => {
      const {decoder, pooled} = await open(t, precision)
      const [first, second, third, ...others] = pooled as [PooledAdapter, PooledAdapter, ...PooledAdapter[]]
      const batch = [
        {number: 0, adapter: first},
        {number: 1, adapter: third},
      ]
      const before = await bytesOf(decoder, batch)
      for (const adapter of [second, ...others]) decoder.adapters?.release(adapter)
      assert.deepEqual(await bytesOf(decoder, batch), before)
    })
  })

it('a batch whose adapters do not fit into the memory runs in parts with the same bytes', async (t) => {
  const whole = await open(t, 'f32')
  const sequences = ({pooled}: Opened) => [...pooled, undefined].map((adapter, number) => ({number, adapter}))
  const expected = await bytesOf(whole.decoder, sequences(whole))
  const two = 2 * Math.max(...whole.pooled.map(({bytes}) => bytes))
  for (const [bytes, parts] of [
    [two, 5],
    [1, 6],
  ] as const) {
    const {decoder, pooled} = await open(t, 'f32', bytes)
    assert.equal(decoder.adapters?.partsOf([...pooled, undefined]).length, parts)
    assert.deepEqual(await bytesOf(decoder, sequences({...whole, pooled})), expected)
  }
})
