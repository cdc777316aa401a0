import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {openDecoder} from '../../src/llm/decoder.js'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import {openModelDirectory, readJsonObject} from '../../src/weights/index.js'
import {ReferenceLlama, type Rope, rotateSwappedHalves} from '../reference/llama.js'
import {temporaryFolder} from '../support/temporary.js'
import {type TinyLlama, tinyLlama, writeTinyLlama} from '../support/tiny-llama.js'

const positions = 300
const tokens = Array.from({length: positions}, (_, i) => (i * 73 + 11) % tinyLlama.vocabSize)

/** Sizes of the runs that feed the tokens: a long prefill, a second one with a past, then one by one over position 256. */
const runs = [150, 90, ...Array.from({length: positions - 240}, () => 1)]

async function load(test: TestContext, changes: Partial<TinyLlama>, rope?: Rope) {
  const folder = await temporaryFolder(test)
  await writeTinyLlama(folder, changes)
  const directory = await openModelDirectory(folder)
  const spec = readDecoderSpec(await readJsonObject(directory.config), directory.config)
  const decoder = await openDecoder(spec, directory.tensors, {contextLength: spec.contextLength, threads: 1})
  test.after(() => decoder.release())
  const reference = await ReferenceLlama.load({...tinyLlama, ...changes}, directory.tensors, rope)
  return {decoder, reference}
}

async function engineLogits({decoder}: Awaited<ReturnType<typeof load>>): Promise<Float32Array[]> {
  const cache = decoder.newCache()
  const rows: Float32Array[] = []
  let at = 0
  for (const run of runs) {
    const logits = await decoder.forward(cache, tokens.slice(at, at + run), 'all')
    const width = logits.length / run
    for (let row = 0; row < run; row++) rows.push(logits.slice(row * width, (row + 1) * width))
    at += run
  }
  assert.equal(cache.length, positions)
  assert.equal(cache.capacity, 512, 'the cache has grown by one bucket')
  return rows
}

function largestDifference(a: readonly Float32Array[], b: readonly Float32Array[]): number {
  assert.equal(a.length, b.length)
  return Math.max(
    ...a.flatMap((row, i) => Array.from(row, (value, j) => Math.abs(value - ((b[i] as Float32Array)[j] as number)))),
  )
}

const models: Record<string, Partial<TinyLlama>> = {
  'two shards with an index': {layout: 'indexed'},
  'a tied head in one file': {layout: 'single', tied: true, seed: 2},
  'one key-value head and another rope base': {kvHeads: 1, ropeTheta: 500_000, seed: 3},
  'heads of 8, which no fused kernel takes': {headDim: 8, kvHeads: 4, seed: 4},
  'numbered shards in bfloat16': {layout: 'numbered', dtype: 'BF16', seed: 5},
  'half precision': {layout: 'single', dtype: 'F16', seed: 6},
}

describe('the logits of a randomly initialised Llama, over 300 positions', () => {
  for (const [name, changes] of Object.entries(models))
    it(`equal the reference: ${name}`, async (test) => {
      const model = await load(test, changes)
      const difference = largestDifference(await engineLogits(model), model.reference.logits(tokens))
      assert.ok(difference < 1e-4, `largest difference ${difference}`)
    })

  it('would show the halves of the rotary embedding swapped', async (test) => {
    const model = await load(test, {}, rotateSwappedHalves)
    const difference = largestDifference(await engineLogits(model), model.reference.logits(tokens))
    assert.ok(difference > 1e-2, `largest difference ${difference}`)
  })

  it('of the last position alone are the last row of all', async (test) => {
    const {decoder} = await load(test, {})
    const all = await decoder.forward(decoder.newCache(), tokens.slice(0, 20), 'all')
    const last = await decoder.forward(decoder.newCache(), tokens.slice(0, 20))
    assert.equal(last.length, tinyLlama.vocabSize)
    assert.ok(largestDifference([last], [all.slice(-tinyLlama.vocabSize)]) < 1e-5)
  })
})
