import assert from 'node:assert/strict'
import {readdir, readFile, rm, stat, utimes, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {EngineCounters} from '../../src/llm/counters.js'
import {type Decoder, openDecoder} from '../../src/llm/decoder.js'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import {type LanguageModel, loadLanguageModel} from '../../src/llm/index.js'
import {PrefixCache} from '../../src/llm/prefix-cache.js'
import {PrefixStore, type PrefixStoreOptions} from '../../src/llm/prefix-store.js'
import {cacheShapeOf, type SequenceState} from '../../src/llm/sequence-cache.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {openRunDirectory, readJsonObject} from '../../src/weights/index.js'
import {seeded} from '../support/random.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, tinyModel, writeTinyModel} from '../support/tiny-model.js'

const layers = [
  {kvHeads: 2, headDim: 4},
  {kvHeads: 3, headDim: 2},
]
const bytesPerToken = 8 * (2 * 4 + 3 * 2)
const range = (from: number, length: number) => Array.from({length}, (_, i) => from + i)

/** A state whose numbers all differ. */
function stateOf(length: number, seed = 0): SequenceState {
  const rows = (kvHeads: number, headDim: number, from: number) =>
    Float32Array.from({length: kvHeads * length * headDim}, (_, i) => seed + from + i / 1000)
  return {
    length,
    bytes: length * bytesPerToken,
    layers: layers.map(({kvHeads, headDim}, i) => ({
      key: rows(kvHeads, headDim, 100 * i),
      value: rows(kvHeads, headDim, 100 * i + 50),
    })),
  }
}

/** The first positions of a state. */
const beginningOf = (state: SequenceState, length: number): SequenceState => ({
  length,
  bytes: length * bytesPerToken,
  layers: state.layers.map(({key, value}, i) => {
    const {kvHeads = 0, headDim = 0} = layers[i] ?? {}
    const cut = (rows: Float32Array) =>
      Float32Array.from(
        range(0, kvHeads).flatMap((head) => {
          const from = head * state.length * headDim
          return [...rows.subarray(from, from + length * headDim)]
        }),
      )
    return {key: cut(key), value: cut(value)}
  }),
})

const storeIn = (folder: string, changes: Partial<PrefixStoreOptions> = {}) =>
  new PrefixStore({
    folder,
    maxBytes: 1e6,
    model: 'm1',
    shape: {layers, states: []},
    counters: new EngineCounters(),
    ...changes,
  })

/** Writes the first tokens of a sequence to a file. */
async function write(folder: string, tokens: number[], length: number, changes: Partial<PrefixStoreOptions> = {}) {
  const store = storeIn(folder, changes)
  await store.load(1e6)
  store.offer({tokens, adapter: 'a1', state: stateOf(tokens.length)}, length)
  await store.close()
}

const saved = (tokens: number[]) => ({tokens, adapter: 'a1', state: stateOf(tokens.length)})

describe('beginnings of prompts in files', () => {
  it('are read after a restart, for the same model and adapter', async (t) => {
    const folder = join(await temporaryFolder(t), 'deep/prefixes')
    const tokens = range(5, 300)
    await write(folder, tokens, 200)
    const [found, ...others] = await storeIn(folder).load(1e6)
    assert.deepEqual(others, [])
    assert.deepEqual(found, {tokens: range(5, 200), adapter: 'a1', state: beginningOf(stateOf(300), 200)})
    assert.deepEqual(await storeIn(folder, {model: 'm2'}).load(1e6), [])
    assert.deepEqual(await storeIn(folder).load(200 * bytesPerToken), [], 'larger than the memory')
  })

  it('are readable only by the user', {skip: process.platform === 'win32'}, async (t) => {
    const folder = join(await temporaryFolder(t), 'prefixes')
    await write(folder, range(0, 300), 200)
    const [name = ''] = await readdir(folder)
    assert.match(name, /^m1-[0-9a-f]{32}\.prefix$/)
    assert.equal((await stat(folder)).mode & 0o777, 0o700)
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600)
  })

  it('are written if two requests share them, and are long enough', async (t) => {
    const folder = await temporaryFolder(t)
    const counters = new EngineCounters()
    const store = storeIn(folder, {counters})
    const written = async () => {
      await store.close()
      return [counters.get('prefixFilesWritten'), (await readdir(folder)).length]
    }
    store.offer(saved(range(0, 300)), 300)
    assert.deepEqual(await written(), [0, 0], 'the next turn of a conversation shares all of the earlier one')
    store.offer(saved(range(0, 300)), 127)
    assert.deepEqual(await written(), [0, 0], 'short')
    store.offer(saved(range(0, 300)), 200)
    store.offer(saved(range(0, 300)), 200)
    assert.deepEqual(await written(), [1, 1])
    store.offer(saved(range(0, 400)), 320)
    assert.deepEqual(await written(), [1, 1], 'little more than the file has')
    store.offer({...saved(range(0, 300)), adapter: ''}, 200)
    assert.deepEqual(await written(), [2, 2])
    store.offer(saved(range(0, 400)), 330)
    assert.deepEqual(await written(), [3, 2], 'replaces its own beginning')
  })

  it('are limited in total size; the least recently used ones are removed', async (t) => {
    const folder = await temporaryFolder(t)
    const [a, b, c] = [range(0, 300), range(1000, 300), range(2000, 300)] as [number[], number[], number[]]
    for (const [i, [tokens, model]] of (
      [
        [a, 'm1'],
        [b, 'm2'],
      ] as const
    ).entries()) {
      await write(folder, [...tokens], 200, {model})
      const name = (await readdir(folder)).find((each) => each.startsWith(model)) as string
      await utimes(join(folder, name), i + 1, i + 1)
    }
    const models = async () => (await readdir(folder)).map((name) => name.slice(0, 2)).sort()
    // Another request uses the oldest one.
    const store = storeIn(folder)
    await store.load(1e6)
    store.offer(saved([...a]), 250)
    await store.close()
    await write(folder, c, 200, {model: 'm3', maxBytes: 2.5 * 200 * bytesPerToken})
    assert.deepEqual(await models(), ['m1', 'm3'])
    await write(folder, range(3000, 300), 200, {model: 'm4', maxBytes: 199 * bytesPerToken})
    assert.deepEqual(await models(), ['m1', 'm3'], 'one that exceeds the limit is not written')
  })

  const damages: Record<string, (file: Buffer) => Buffer> = {
    'a truncated file': (file) => file.subarray(0, file.length - 1000),
    'an empty file': () => Buffer.alloc(0),
    'a changed number': (file) => Buffer.concat([file.subarray(0, 5000), Buffer.of(1, 2, 3, 4), file.subarray(5004)]),
    'a changed header': (file) =>
      Buffer.from(file.toString('latin1').replace('svc prefix 2', 'svc prefix 9'), 'latin1'),
    'another kind of file': () => Buffer.from('hello'.repeat(100)),
  }
  for (const [name, damage] of Object.entries(damages))
    it(`are ignored and removed: ${name}`, async (t) => {
      const folder = await temporaryFolder(t)
      await write(folder, range(0, 300), 200)
      const [file = ''] = await readdir(folder)
      await writeFile(join(folder, file), damage(await readFile(join(folder, file))))
      const counters = new EngineCounters()
      assert.deepEqual(await storeIn(folder, {counters}).load(1e6), [])
      assert.equal(counters.get('prefixFilesIgnored'), 1)
      assert.deepEqual(await readdir(folder), [])
    })

  it('are ignored and removed: a file of another shape', async (t) => {
    const folder = await temporaryFolder(t)
    await write(folder, range(0, 300), 200, {shape: {layers: layers.slice(1), states: []}})
    const counters = new EngineCounters()
    assert.deepEqual(await storeIn(folder, {counters}).load(1e6), [])
    assert.equal(counters.get('prefixFilesIgnored'), 1)
    assert.deepEqual(await readdir(folder), [])
  })

  it('are not written if the folder is unusable, without an error', async (t) => {
    const parent = await temporaryFolder(t)
    await writeFile(join(parent, 'file'), '')
    const store = storeIn(join(parent, 'file/prefixes'))
    assert.deepEqual(await store.load(1e6), [])
    store.offer(saved(range(0, 300)), 200)
    await store.close()
    const folder = join(parent, 'prefixes')
    const later = storeIn(folder)
    await later.load(1e6)
    await rm(folder, {recursive: true})
    await writeFile(folder, '')
    later.offer(saved(range(0, 300)), 200)
    later.offer(saved(range(0, 500)), 400)
    await later.close()
  })
})

async function openTiny(t: TestContext): Promise<Decoder> {
  const folder = await temporaryFolder(t)
  await writeTinyModel(folder, {contextLength: 1024})
  const {config, tensors} = await openRunDirectory(folder)
  const spec = readDecoderSpec(await readJsonObject(config), config, (name) => tensors.has(name))
  const decoder = await openDecoder(spec, tensors, {contextLength: 1024, threads: 1})
  t.after(() => decoder.release())
  return decoder
}

describe('a state restored from a file', () => {
  it('is equal to a computed one, for random prompts with random common beginnings', async (t) => {
    const decoder = await openTiny(t)
    const folder = await temporaryFolder(t)
    const shape = cacheShapeOf(decoder.spec)
    const {below: integer} = seeded(7)
    const text = (length: number) => Array.from({length}, () => integer(tinyModel.vocabSize))
    const compute = async (tokens: readonly number[]) => {
      const cache = decoder.newCache()
      const slot = cache.add()
      await decoder.prefill(cache, slot, tokens)
      return {cache, slot}
    }
    for (let round = 0; round < 12; round++) {
      const head = text(128 + integer(300))
      const prompts = [
        [...head, ...text(1 + integer(40))],
        [...head, ...text(1 + integer(40))],
      ] as const
      const store = storeIn(folder, {shape, model: `round${round}`, maxBytes: 1e8})
      const prefixes = new PrefixCache(1e8, (prefix, length) => store.offer(prefix, length))
      const first = await compute(prompts[0])
      prefixes.add(prompts[0], 'a1', first.cache.save(first.slot))
      const {length} = prefixes.find(prompts[1], 'a1', prompts[1].length - 1)
      await store.close()
      const [restored] = await storeIn(folder, {shape, model: `round${round}`}).load(1e8)
      if (length === prompts[0].length) continue
      assert.deepEqual(restored?.tokens, prompts[1].slice(0, length))
      const beginning = decoder.newCache()
      beginning.restore(beginning.add(), restored.state, length)
      const expected = decoder.newCache()
      expected.restore(expected.add(), first.cache.save(first.slot), length)
      assert.deepEqual(beginning.save(0), expected.save(0))
      const rest = prompts[1].slice(length)
      assert.deepEqual(await decoder.prefill(beginning, 0, rest), await decoder.prefill(expected, 0, rest))
    }
  })
})

describe('a model with files of beginnings', () => {
  it('computes only the rest of a prompt after a restart, with the same result', async (t) => {
    const folder = await temporaryFolder(t)
    await writeTinyModel(folder, {contextLength: 1024})
    await writeFiles(folder, tinyAdapterFiles({}, {}))
    process.env.SVC_SPEECH_CACHE_DIR = join(folder, 'cache')
    t.after(() => delete process.env.SVC_SPEECH_CACHE_DIR)
    const head = range(0, 200)
    const tokensOf = async (model: LanguageModel, tokens: number[], adapted: boolean) => {
      const sampling = {...defaultSampling, temperature: 0}
      const request = {
        prompt: {kind: 'tokens', tokens} as const,
        maxTokens: 5,
        stop: [],
        sampling,
        ...(adapted ? {} : {adapter: false as const}),
      }
      for await (const event of model.generate(request)) if (event.type === 'done') return event.tokens
      throw new Error('There is no summary.')
    }
    const run = async (prefixFileBytes: number, prompts: readonly [tokens: number[], adapter: boolean][]) => {
      const model = await loadLanguageModel(folder, {threads: 1, numCtx: 0, prefixBytes: 1e7, prefixFileBytes})
      const texts: number[][] = []
      for (const [tokens, adapter] of prompts) texts.push(await tokensOf(model, tokens, adapter))
      await model.idle()
      await model.release()
      return {texts, counters: model.counters.snapshot()}
    }
    const first = await run(1e8, [
      [[...head, 1, 2], true],
      [[...head, 3, 4], true],
    ])
    assert.equal(first.counters.prefixFilesWritten, 1)
    const last: readonly [number[], boolean][] = [
      [[...head, 5, 6, 7], true],
      [[...head, 5, 6, 7], false],
    ]
    const second = await run(1e8, last)
    const plain = await run(0, last)
    assert.deepEqual(second.texts, plain.texts)
    assert.deepEqual([second.counters.prefixFilesRead, second.counters.cachedTokens], [1, head.length])
    assert.deepEqual([plain.counters.prefixFilesRead, plain.counters.cachedTokens], [0, 0])
    await utimes(join(folder, 'config.json'), 1, 1)
    assert.equal((await run(1e8, last)).counters.prefixFilesRead, 0, 'the model has changed')
  })
})
