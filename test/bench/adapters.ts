import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {median, medianRatio, round} from '../../src/bench/measure.js'
import type {PooledAdapter} from '../../src/llm/adapters/adapter-pool.js'
import {siteGroups} from '../../src/llm/adapters/sites.js'
import {type Decoder, openDecoder} from '../../src/llm/decoder.js'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import {type AdapterSource, loadLanguageModel} from '../../src/llm/index.js'
import {type Precision, withQuantised} from '../../src/llm/precision.js'
import type {SequenceCache} from '../../src/llm/sequence-cache.js'
import type {DecoderSpec} from '../../src/llm/spec.js'
import {defaultSampling, randomSource} from '../../src/sampling/index.js'
import {openAdapter, openRunDirectory, type TensorMap} from '../../src/weights/index.js'
import {floatBytes, safetensorsFile} from '../support/safetensors-file.js'
import {writeFiles} from '../support/temporary.js'
import {comparePeer} from './adapter-peer.js'
import {qwen05b, writeRandomModel} from './random-model.js'

const threads = 1
const batch = 8
const steps = 24

/** Writes an adapter of PEFT with random values for the layers of a model. */
async function writeRandomAdapter(folder: string, spec: DecoderSpec, rank: number, seed: number, targets = /./) {
  const random = randomSource(seed)
  const tensors = siteGroups(spec).flatMap(({isHead, sites, shape: [out, input]}) =>
    sites.flatMap(([target = '']) => {
      if (isHead || !targets.test(target)) return []
      const name = (half: string) => `base_model.model.${target.replace(/\.weight$/, '')}.lora_${half}.weight`
      const values = (length: number, scale: number) =>
        floatBytes(
          new Float32Array(length).map(() => scale * (random() - 0.5)),
          'F32',
        )
      return [
        [name('A'), {dtype: 'F32', shape: [rank, input], data: values(rank * input, 1 / Math.sqrt(input))}],
        [name('B'), {dtype: 'F32', shape: [out, rank], data: values(out * rank, 0.1)}],
      ] as const
    }),
  )
  await writeFiles(folder, {
    'adapter_model.safetensors': safetensorsFile(Object.fromEntries(tensors)),
    'adapter_config.json': JSON.stringify({peft_type: 'LORA', r: rank, lora_alpha: 2 * rank}),
  })
}

/** Processor time of this process, ms. With one thread, it is the duration without the time of other processes. */
function processorMs(): number {
  const {user, system} = process.cpuUsage()
  return (user + system) / 1000
}

/** Processor time of a decode step, ms, of the same sequences with and without adapters, alternately. */
async function compareSteps(folder: string, spec: DecoderSpec, weights: TensorMap) {
  const open = (adapters: boolean) => openDecoder(spec, weights, {contextLength: 512, threads, adapters})
  const [plain, mixed] = [await open(false), await open(true)]
  const pooled: PooledAdapter[] = []
  for (let i = 0; i < batch; i++)
    pooled.push((await mixed.adapters?.load(await openAdapter(join(folder, `rank8-${i}`)))) as PooledAdapter)
  const token = (step: number, row: number) => (step * 73 + row * 31) % spec.vocabSize
  const start = async (decoder: Decoder, adapters: readonly PooledAdapter[]): Promise<SequenceCache> => {
    const cache = decoder.newCache()
    for (let row = 0; row < batch; row++) {
      const prompt = Array.from({length: 16}, (_, i) => token(i, row))
      await decoder.prefill(cache, cache.add(), prompt, {adapter: adapters[row]})
    }
    return cache
  }
  const runs = [
    {name: 'plain', decoder: plain, adapters: []},
    {name: 'none', decoder: mixed, adapters: []},
    {name: 'mixed', decoder: mixed, adapters: pooled},
  ]
  const caches = await Promise.all(runs.map(({decoder, adapters}) => start(decoder, adapters)))
  const ms: Record<string, number[]> = {plain: [], none: [], mixed: []}
  for (let step = 0; step < steps; step++)
    for (const [i, {name, decoder, adapters}] of runs.entries()) {
      const tokens = Array.from({length: batch}, (_, row) => token(16 + step, row))
      const started = processorMs()
      await decoder.step(caches[i] as SequenceCache, tokens, {
        adapters: tokens.map((_, row) => adapters[row]),
        logits: false,
      })
      ms[name]?.push(processorMs() - started)
    }
  const loads: number[] = []
  for (let i = 0; i < 5; i++) {
    const started = performance.now()
    const adapter = (await mixed.adapters?.load(await openAdapter(join(folder, 'rank16')))) as PooledAdapter
    loads.push(performance.now() - started)
    mixed.adapters?.release(adapter)
  }
  await plain.release()
  await mixed.release()
  const {plain: without = [], none = [], mixed: eight = []} = ms
  return {
    step_ms: round(median(without), 1),
    no_adapter_in_use: round(medianRatio(without, none), 3),
    eight_adapters: round(medianRatio(without, eight), 3),
    load_rank_16_ms: round(median(loads), 1),
  }
}

/** Tokens per second of requests for 100 adapters by Zipf's law, with memory for 8 relative to memory for all. */
async function compareResidency(folder: string, model: string, spec: DecoderSpec) {
  const sources: AdapterSource[] = []
  let bytes = 0
  for (let i = 0; i < 100; i++) {
    const place = join(folder, `zipf${i}`)
    await writeRandomAdapter(place, spec, 8, 1000 + i, /[qv]_proj/)
    const {key, deltas} = await openAdapter(place)
    bytes = deltas.reduce((sum, {a, b}) => sum + a.length + b.length, 0)
    sources.push({name: `zipf${i}`, folder: place, key, isPinned: false})
  }
  const weights = sources.map((_, i) => 1 / (i + 1))
  const total = weights.reduce((sum, weight) => sum + weight)
  const pick = (random: () => number) => {
    let left = random() * total
    const found = sources.find((_, i) => {
      left -= weights[i] as number
      return left < 0
    })
    return found ?? (sources[0] as AdapterSource)
  }
  const speedWith = async (maxBytes: number) => {
    const loaded = await loadLanguageModel(model, {
      threads,
      numCtx: 512,
      precision: 'w8',
      adapters: {maxBytes, pinned: []},
    })
    const run = async (adapter: AdapterSource) => {
      const prompt = {kind: 'tokens' as const, tokens: [1, 2, 3, 4]}
      const request = {prompt, maxTokens: 16, stop: [], sampling: {...defaultSampling, temperature: 0}, adapter}
      let tokens = 0
      for await (const event of loaded.generate(request)) if (event.type === 'done') tokens = event.completionTokens
      return tokens
    }
    if (maxBytes === Infinity) for (const source of sources) await run(source)
    const random = randomSource(7)
    const [started, before] = [performance.now(), processorMs()]
    const client = async () => {
      let tokens = 0
      for (let i = 0; i < 6; i++) tokens += await run(pick(random))
      return tokens
    }
    const counts = await Promise.all(Array.from({length: batch}, client))
    const tokens = counts.reduce((sum, count) => sum + count)
    const speed = {wall: (1000 * tokens) / (performance.now() - started), processor: tokens / (processorMs() - before)}
    await loaded.release()
    return speed
  }
  const [all, eight] = [await speedWith(Infinity), await speedWith(8 * bytes)]
  return {
    all_resident_tokens_per_s: round(all.wall, 1),
    eight_resident: round(eight.wall / all.wall, 3),
    by_processor_time: round(eight.processor / all.processor, 3),
  }
}

/**
 * Adapters of the shape of Qwen2.5 0.5B with random weights; ratios of speeds to those without adapters. If
 * `SVC_BENCH_NODE_LLAMA_CPP` is the folder of an installation of node-llama-cpp, it also compares requests for eight
 * adapters in turn with llama.cpp.
 */
export async function adapters(): Promise<object> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-adapters-'))
  try {
    const model = join(folder, 'model')
    await writeRandomModel(model, qwen05b, 'BF16')
    const {config, readConfig, tensors} = await openRunDirectory(model)
    const spec = readDecoderSpec(await readConfig(), config, (name) => tensors.has(name))
    for (let i = 0; i < batch; i++) await writeRandomAdapter(join(folder, `rank8-${i}`), spec, 8, i)
    await writeRandomAdapter(join(folder, 'rank16'), spec, 16, 99)
    const compare = async (precision: Precision) => {
      const cache = {folder: join(folder, 'cache'), model, threads: 2}
      return compareSteps(folder, spec, await withQuantised(spec, tensors, precision, cache))
    }
    const peer = process.env.SVC_BENCH_NODE_LLAMA_CPP
    // Quantised copies are written here.
    process.env.XDG_CACHE_HOME = folder
    const folders = Array.from({length: batch}, (_, i) => join(folder, `rank8-${i}`))
    return {
      benchmark: 'adapters',
      threads,
      batch,
      f32: await compare('f32'),
      w8: await compare('w8'),
      zipf_100: await compareResidency(folder, model, spec),
      ...(peer ? {llama_cpp: await comparePeer(peer, model, folders)} : {}),
    }
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}
