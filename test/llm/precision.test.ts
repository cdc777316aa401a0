import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import type {PooledAdapter} from '../../src/llm/adapters/adapter-pool.js'
import {type Decoder, openDecoder, type Prediction} from '../../src/llm/decoder.js'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import {startEngine} from '../../src/llm/index.js'
import {Initializers} from '../../src/llm/initializers.js'
import {loadLanguageModel} from '../../src/llm/language-model.js'
import {choosePrecision, withQuantised} from '../../src/llm/precision.js'
import {GraphBuilder, hasByteProducts, largestWeight, openSession, tensor} from '../../src/onnx/index.js'
import {logSumExp} from '../../src/sampling/index.js'
import {
  columnsCopy,
  openRunDirectory,
  type QuantizeProgress,
  readJsonObject,
  readTensorMap,
  type TensorEntry,
  type TensorMap,
  withCopies,
  writeSafetensors,
} from '../../src/weights/index.js'
import {perplexityOf, stories, tokensOf} from '../support/perplexity.js'
import {sharedData, skipWithout} from '../support/project.js'
import {randomFloats} from '../support/random-floats.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyFamilies} from '../support/tiny-families.js'
import {type TinyModel, tinyAdapterFiles, tinyModel, writeTinyModel} from '../support/tiny-model.js'

const tokens = Array.from({length: 40}, (_, i) => (i * 73 + 11) % tinyModel.vocabSize)

const cacheIn = (folder: string) => ({folder, model: 'tiny', threads: 1})

interface Opened extends Decoder {
  own: PooledAdapter | undefined
}

interface Loaded {
  floats: Opened
  /** The same in 8 bits and in mostly 4 bits. */
  bytes: Opened
  nibbles: Opened
}

/** Opens a model in both precisions. */
async function load(test: TestContext, changes: Partial<TinyModel>, withAdapter = false): Promise<Loaded> {
  const [folder, cache] = [await temporaryFolder(test), await temporaryFolder(test)]
  await writeTinyModel(folder, changes)
  if (withAdapter) await writeFiles(folder, tinyAdapterFiles(changes, {}))
  const {config, tensors, adapter} = await openRunDirectory(folder)
  const spec = readDecoderSpec(await readJsonObject(config), config, (name) => tensors.has(name))
  const open = async (weights: TensorMap) => {
    const decoder = await openDecoder(spec, weights, {contextLength: 512, threads: 1, adapters: withAdapter})
    test.after(() => decoder.release())
    return {...decoder, own: adapter && (await decoder.adapters?.load(adapter))}
  }
  return {
    floats: await open(tensors),
    bytes: await open(await withQuantised(spec, tensors, 'w8', cacheIn(cache))),
    nibbles: await open(await withQuantised(spec, tensors, 'w4', cacheIn(cache))),
  }
}

const logitsOf = async (decoder: Opened): Promise<Float32Array> => {
  const cache = decoder.newCache()
  const predictions = await decoder.prefill(cache, cache.add(), tokens, {predict: 'all', adapter: decoder.own})
  return Float32Array.from(predictions.flatMap(({logits}) => [...logits]))
}

/** Root of the mean square of the differences, relative to that of the values. */
function relativeError(actual: Float32Array, expected: Float32Array): number {
  const square = (values: Float32Array) => values.reduce((sum, value) => sum + value * value, 0)
  return Math.sqrt(square(actual.map((value, i) => value - (expected[i] as number))) / square(expected))
}

const models: Record<string, Partial<TinyModel>> = {
  'an untied head': {layout: 'indexed', hiddenSize: 64},
  'a tied head': {layout: 'single', tied: true, hiddenSize: 128, seed: 2},
  'a size that no block divides': {layout: 'single', tied: true, seed: 3},
  'shards in bfloat16': {layout: 'numbered', dtype: 'BF16', seed: 5},
  'half precision': {layout: 'single', dtype: 'F16', seed: 6},
}

/** Relative error of the logits of tiny random models. The weights have 7 or 8 bits, the activations always 8. */
const largestError = largestWeight() < 127 ? 0.15 : 0.1

/** Largest magnitude, divided by a number. */
const stepOf = (values: Float32Array, most: number) => Math.max(...values.map(Math.abs)) / most

/** x W^T as the kernels compute it: rows of x and of W are rounded to multiples of their own steps. */
function roundedProduct(x: Float32Array, weight: Float32Array, out: number, most: number): Float32Array {
  const size = weight.length / out
  const rounded = (values: Float32Array, limit: number) => {
    const step = stepOf(values, limit) || 1
    return {step, values: values.map((value) => Math.round(value / step))}
  }
  const rows = Array.from({length: x.length / size}, (_, i) => rounded(x.subarray(i * size, (i + 1) * size), 127))
  const columns = Array.from({length: out}, (_, i) => rounded(weight.subarray(i * size, (i + 1) * size), most))
  return Float32Array.from(
    rows.flatMap((row) =>
      columns.map((column) => {
        const sum = row.values.reduce((total, value, i) => total + value * (column.values[i] as number), 0)
        return sum * row.step * column.step
      }),
    ),
  )
}

describe('quantised weights', () => {
  it('change the perplexity of a trained model by at most 2 % with 8 bits and 10 % with 4 bits', {
    skip: skipWithout('stories260K'),
  }, async (t) => {
    const folder = sharedData('stories260K') ?? ''
    const {config, tensors} = await openRunDirectory(folder)
    const spec = readDecoderSpec(await readJsonObject(config), config, (name) => tensors.has(name))
    const model = await loadLanguageModel(folder)
    t.after(() => model.release())
    const sequences = stories.map((text) => tokensOf(model, text))
    const cache = await temporaryFolder(t)
    const perplexity = async (weights: TensorMap) => {
      const decoder = await openDecoder(spec, weights, {contextLength: 512, threads: 1})
      t.after(() => decoder.release())
      return perplexityOf(decoder, sequences)
    }
    const exact = await perplexity(tensors)
    const bytes = (await perplexity(await withQuantised(spec, tensors, 'w8', cacheIn(cache)))) / exact
    const nibbles = (await perplexity(await withQuantised(spec, tensors, 'w4', cacheIn(cache)))) / exact
    assert.ok(bytes > 0.98 && bytes <= 1.02, `${bytes} of the perplexity with 8 bits`)
    assert.ok(nibbles > 0.98 && nibbles <= 1.1, `${nibbles} of the perplexity with 4 bits`)
  })

  it('are multiplied with rounded rows, exactly', async (t) => {
    const [rows, size, out] = [3, 70, 5]
    const folder = await temporaryFolder(t)
    const weight = randomFloats(1)(out * size)
    const x = randomFloats(2)(rows * size)
    x.fill(0, size, 2 * size)
    const file = join(folder, 'model.safetensors')
    const data = () => new Uint8Array(weight.buffer)
    await writeSafetensors(file, [{name: 'w', dtype: 'F32', shape: [out, size], data}])
    const tensors = await readTensorMap(file)
    for (const most of new Set([largestWeight(), 63])) {
      const copies = [columnsCopy(tensors.get('w') as TensorEntry, most)]
      const weights = await withCopies(tensors, copies, {...cacheIn(folder), recipe: `test ${most}`})
      const graph = new GraphBuilder('test')
      const initializers = new Initializers(graph, weights)
      const product = initializers.multiply(graph.input('x', 'float32', [rows, size]), 'w', [out, size], 2)
      graph.output('y', product, 'float32', [rows, out])
      const session = await openSession(graph.build(), {externalFolder: initializers.folder, threads: 1})
      t.after(() => session.release())
      const {y} = await session.run({x: tensor(x, [rows, size])}, {y: null})
      const expected = roundedProduct(x, weight, out, most).map((value) => value || 0)
      const difference = Math.max(...expected.map((value, i) => Math.abs(value - (y.data[i] as number))))
      assert.ok(difference < 1e-4 * stepOf(expected, 1), `largest difference ${difference}`)
    }
  })

  for (const [what, changes] of Object.entries({...models, ...tinyFamilies}))
    it(`are accurate for a model: ${what}`, async (t) => {
      const {floats, bytes, nibbles} = await load(t, changes)
      const exact = await logitsOf(floats)
      const error = relativeError(await logitsOf(bytes), exact)
      // Each layer adds its error.
      assert.ok(error > 0 && error < (largestError / 2) * (changes.layers ?? 2), `relative error ${error}`)
      const larger = relativeError(await logitsOf(nibbles), exact)
      assert.ok(larger > error && larger < 0.8, `relative error ${larger} with 4 bits`)
    })

  it('are accurate with an adapter, which stays in 32 bits', async (t) => {
    const {floats, bytes} = await load(t, {}, true)
    const error = relativeError(await logitsOf(bytes), await logitsOf(floats))
    assert.ok(error < largestError, `relative error ${error}`)
  })

  for (const withAdapter of [false, true])
    it(`do not change the logits of the most likely tokens in the head${withAdapter ? ', with an adapter' : ''}`, async (t) => {
      const [folder, cache] = [await temporaryFolder(t), await temporaryFolder(t)]
      await writeTinyModel(folder, {hiddenSize: 64})
      if (withAdapter) await writeFiles(folder, tinyAdapterFiles({hiddenSize: 64}, {}))
      const {config, tensors, adapter} = await openRunDirectory(folder)
      const spec = readDecoderSpec(await readJsonObject(config), config, (name) => tensors.has(name))
      const weights = await withQuantised(spec, tensors, 'w8', cacheIn(cache))
      const predict = async (map: TensorMap) => {
        const decoder = await openDecoder(spec, map, {contextLength: 512, threads: 1, adapters: withAdapter})
        t.after(() => decoder.release())
        const own = adapter && (await decoder.adapters?.load(adapter))
        const kv = decoder.newCache()
        return decoder.prefill(kv, kv.add(), tokens, {predict: 'all', adapter: own})
      }
      const exact = await predict(new Map([...weights].filter(([name]) => !name.startsWith(`${spec.tensors.head}.`))))
      let roundedError = 0
      for (const [i, {top, logits}] of (await predict(weights)).entries()) {
        const expected = (exact[i] as Prediction).logits
        assert.ok(Math.abs(top.logTotal - logSumExp(expected)) < 1e-3)
        for (const [at, id] of top.ids.entries()) {
          assert.ok(Math.abs((top.logits[at] as number) - (expected[id] as number)) < 1e-5)
          roundedError = Math.max(roundedError, Math.abs((logits[id] as number) - (expected[id] as number)))
        }
      }
      assert.ok(roundedError > 1e-4, 'the head is rounded')
    })

  for (const kind of ['floats', 'bytes', 'nibbles'] as const)
    it(`give a sequence the same most likely tokens, however its prompt is divided: ${kind}`, async (t) => {
      const decoder = (await load(t, {tied: true, layout: 'single', hiddenSize: 64, seed: 2}))[kind]
      const predict = async (sizes: readonly number[]) => {
        const cache = decoder.newCache()
        const slot = cache.add()
        let at = 0
        const top = []
        for (const size of sizes) {
          const predictions = await decoder.prefill(cache, slot, tokens.slice(at, at + size), {predict: 'all'})
          top.push(...predictions.map((prediction) => prediction.top))
          at += size
        }
        return top
      }
      const whole = await predict([tokens.length])
      for (const sizes of [[20, 20], [2, 3, 5, 7, 11, 12], Array.from({length: 20}, () => 2)])
        assert.deepEqual(
          (await predict(sizes)).map(({ids, logits}) => ({ids, logits})),
          whole.map(({ids, logits}) => ({ids, logits})),
        )
    })

  it('give a sequence the same logits alone and beside others', async (t) => {
    const {bytes} = await load(t, {tied: true, layout: 'single', hiddenSize: 64, seed: 2})
    const run = async (prompts: readonly (readonly number[])[]) => {
      const cache = bytes.newCache()
      for (const prompt of prompts) await bytes.prefill(cache, cache.add(), prompt)
      const [prediction] = await bytes.step(
        cache,
        prompts.map(() => 7),
      )
      return prediction
    }
    const own = tokens.slice(0, 20)
    assert.deepEqual(await run([own, tokens.slice(3, 30), tokens]), await run([own]))
  })

  it('report their progress to the thread that starts the engine, the first time', async (t) => {
    const [folder, cache] = [await temporaryFolder(t), await temporaryFolder(t)]
    await writeTinyModel(folder, {})
    const {XDG_CACHE_HOME: before} = process.env
    process.env.XDG_CACHE_HOME = cache
    t.after(() => {
      if (before === undefined) delete process.env.XDG_CACHE_HOME
      else process.env.XDG_CACHE_HOME = before
    })
    const start = async () => {
      const reports: QuantizeProgress[] = []
      const onProgress = (progress: QuantizeProgress) => reports.push(progress)
      const engine = await startEngine(folder, {threads: 1, numCtx: 0, precision: 'w4', onProgress})
      await engine.close()
      return reports
    }
    const reports = await start()
    const {done, total} = reports.at(-1) ?? {}
    assert.ok(reports.length > 1 && (total ?? 0) > 0)
    assert.equal(done, total)
    assert.deepEqual(await start(), [])
  })

  describe('are chosen', () => {
    const weights = 5e7
    const large = new Map([
      ['w', {name: 'w', dtype: 'BF16', shape: [weights], file: '', offset: 0, length: 2 * weights}],
    ]) as TensorMap
    const usual = hasByteProducts() ? 'w8' : 'f32'

    it('for large models on processors with fast products of bytes', () => {
      assert.equal(choosePrecision('auto', large, 'cpu', 10 * weights), usual)
      assert.equal(choosePrecision('auto', large, 'cuda', 10 * weights), 'f32')
      assert.equal(choosePrecision('auto', new Map(), 'cpu', 0), 'f32')
    })

    it('as small as the memory requires', () => {
      assert.equal(choosePrecision('auto', large, 'cpu', 4 * weights), usual)
      assert.equal(choosePrecision('auto', large, 'cpu', 4 * weights - 1), 'w8')
      assert.equal(choosePrecision('auto', large, 'cpu', weights), 'w8')
      assert.equal(choosePrecision('auto', large, 'cpu', weights - 1), 'w4')
    })

    it('on request', () => {
      assert.equal(choosePrecision('w8', new Map(), 'cpu'), 'w8')
      assert.equal(choosePrecision('f32', large, 'cpu', 0), 'f32')
    })
  })
})
