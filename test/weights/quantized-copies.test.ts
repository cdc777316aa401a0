import assert from 'node:assert/strict'
import {readdir, readFile, truncate, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {
  blocksCopy,
  columnsCopy,
  nibblesCopy,
  type QuantizedCopy,
  type QuantizeProgress,
  readTensorMap,
  type TensorEntry,
  withCopies,
  writeSafetensors,
} from '../../src/weights/index.js'
import {temporaryFolder} from '../support/temporary.js'

/** Approximately uniform 16-bit floats with exponents near that of 1, from a linear congruential generator. */
function randomHalves(count: number, seed: number): Uint8Array {
  const halves = new Uint16Array(count)
  let state = seed
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    halves[i] = ((state >>> 16) & 0x81ff) | 0x3e00
  }
  return new Uint8Array(halves.buffer)
}

/** Matrices with more rows than a chunk; the sizes are not multiples of the blocks. */
const shapes: Record<string, [number, number]> = {a: [1501, 1010], b: [3007, 1010], c: [4100, 1010], d: [5, 70]}

async function setUp(test: TestContext, names = Object.keys(shapes)) {
  const folder = await temporaryFolder(test)
  const file = join(folder, 'model.safetensors')
  const sources = names.map((name, i) => {
    const shape = shapes[name] as [number, number]
    return {name, dtype: 'BF16', shape, data: () => randomHalves(shape[0] * shape[1], i)} as const
  })
  await writeSafetensors(file, sources)
  const tensors = await readTensorMap(file)
  const copies = [columnsCopy, blocksCopy, nibblesCopy, columnsCopy].flatMap((copy, i): QuantizedCopy[] => {
    const entry = tensors.get(Object.keys(shapes)[i] as string)
    return entry === undefined ? [] : [copy(entry)]
  })
  const quantise = async (cache: string, threads: number, onProgress?: (progress: QuantizeProgress) => void) => {
    const options = {folder: join(folder, cache), model: folder, recipe: 'test', threads, onProgress}
    return (await withCopies(tensors, copies, options)).get(`${names[0]}.columns`) as TensorEntry
  }
  return {folder, file, quantise}
}

describe('quantised copies', () => {
  it('have the same bytes with any number of threads, and report their progress', async (test) => {
    const {quantise} = await setUp(test)
    const weights = Object.values(shapes).reduce((sum, [out, input]) => sum + out * input, 0)
    const reports: QuantizeProgress[] = []
    const {file: one} = await quantise('one', 1)
    const {file: three} = await quantise('three', 3, (progress) => reports.push(progress))
    assert.ok((await readFile(one)).equals(await readFile(three)))
    assert.deepEqual(reports.at(-1), {done: weights, total: weights})
    assert.ok(reports.length > 4)
  })

  it('are reused, and written again if a byte changes, the header is wrong, or the file ends early', async (test) => {
    const {quantise} = await setUp(test, ['d'])
    const {file, offset} = await quantise('cache', 1)
    const bytes = await readFile(file)
    const reports: QuantizeProgress[] = []
    const again = () => quantise('cache', 1, (progress) => reports.push(progress))
    await again()
    assert.equal(reports.length, 0)
    const changed = (at: number) => Buffer.from(bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)))
    for (const damaged of [changed(offset + 9), changed(0), changed(20), bytes.subarray(0, -1)]) {
      await writeFile(file, damaged)
      assert.equal((await again()).file, file)
      assert.ok((await readFile(file)).equals(bytes))
    }
    assert.equal(reports.length, 4)
  })

  it('are not left incomplete if a source ends early', async (test) => {
    const {folder, file, quantise} = await setUp(test)
    await truncate(file, 16_000_000)
    await assert.rejects(quantise('cache', 2), {code: 'model_file_invalid', message: /ends within the tensor/})
    assert.deepEqual(await readdir(join(folder, 'cache')), [])
  })

  it('are refused for tensors that are not floats', async (test) => {
    const folder = await temporaryFolder(test)
    const file = join(folder, 'model.safetensors')
    await writeSafetensors(file, [{name: 'w', dtype: 'I8', shape: [2, 2], data: () => new Uint8Array(4)}])
    const tensors = await readTensorMap(file)
    const copies = [columnsCopy(tensors.get('w') as TensorEntry)]
    const options = {folder: join(folder, 'cache'), model: dirname(file), recipe: 'test', threads: 1}
    await assert.rejects(withCopies(tensors, copies, options), {code: 'tensor_dtype'})
  })
})
