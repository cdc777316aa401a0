import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {medianRatio, round} from '../../src/bench/measure.js'
import {type Decoder, openDecoder} from '../../src/llm/decoder.js'
import {readModelFiles} from '../../src/llm/model-files.js'
import {withQuantised} from '../../src/llm/precision.js'
import {elements} from '../../src/weights/index.js'
import {type TinyFamily, type TinyModel, writeTinyModel} from '../support/tiny-model.js'

/** Sizes of a small published model, with few layers and tokens. */
const sizes: Partial<TinyModel> = {
  ...{vocabSize: 512, hiddenSize: 768, intermediateSize: 2048, layers: 4, heads: 12, kvHeads: 4, headDim: 64},
  ...{tied: true, layout: 'single', window: 512},
}

/** Heads of recurrent layers with the sizes of published models. */
const configs: Readonly<Partial<Record<TinyFamily, TinyModel['config']>>> = {
  qwen3_5_text: {
    ...{linear_num_key_heads: 12, linear_num_value_heads: 12},
    ...{linear_key_head_dim: 128, linear_value_head_dim: 128},
  },
  granitemoehybrid: {
    ...{mamba_n_heads: 24, mamba_d_head: 64, mamba_d_state: 128, shared_intermediate_size: 2048},
  },
}

const families: readonly TinyFamily[] = [
  ...(['qwen2', 'llama', 'mistral', 'qwen3', 'gemma2', 'gemma3_text', 'gemma4_text', 'smollm3', 'olmo2'] as const),
  ...(['granite', 'phi3', 'ministral3', 'lfm2', 'qwen3_5_text', 'granitemoehybrid'] as const),
]

const tokens = Array.from({length: 256}, (_, i) => 10 + ((i * 7) % 80))

/** Processor time of a prompt per weight of the layers, ms. */
async function promptTime(decoder: Decoder, weights: number): Promise<number> {
  const cache = decoder.newCache()
  const slot = cache.add()
  const before = process.cpuUsage()
  await decoder.prefill(cache, slot, tokens, {logits: false})
  const {user, system} = process.cpuUsage(before)
  return (user + system) / 1000 / weights
}

/**
 * Compares how fast the families read a prompt of 256 tokens, per weight of their layers, with Qwen2: random weights of equal
 * sizes, 8 bits, one thread, processor time. Values above 1 are faster. `SVC_BENCH_ROUNDS` is the number of rounds, in which
 * all alternate; default 5.
 */
export async function familyPrompts() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const opened: {family: TinyFamily; decoder: Decoder; weights: number}[] = []
  try {
    for (const family of families) {
      const model = join(folder, family)
      await writeTinyModel(model, {...sizes, family, config: configs[family] ?? {}})
      const [threads, precision] = [1, 'w8'] as const
      const {directory, spec} = await readModelFiles(model, {threads, numCtx: 512, precision})
      const options = {folder: join(folder, 'cache'), model, threads}
      const tensors = await withQuantised(spec, directory.tensors, precision, options)
      const decoder = await openDecoder(spec, tensors, {contextLength: 512, threads})
      const inLayers = [...directory.tensors].filter(([name]) => !name.includes('embed_tokens'))
      const weights = inLayers.reduce((sum, [, {shape}]) => sum + elements(shape), 0)
      opened.push({family, decoder, weights})
      // The first run allocates its buffers.
      await promptTime(decoder, weights)
    }
    const times = opened.map((): number[] => [])
    for (let i = 0; i < Number(process.env.SVC_BENCH_ROUNDS ?? 5); i++)
      for (const [at, {decoder, weights}] of opened.entries()) times[at]?.push(await promptTime(decoder, weights))
    const [base = []] = times
    const ratioOf = (at: number) => round(medianRatio(base, times[at] ?? []), 2)
    return {prompts: Object.fromEntries(opened.map(({family}, at) => [family, ratioOf(at)]))}
  } finally {
    for (const {decoder} of opened) await decoder.release()
    await rm(folder, {recursive: true})
  }
}
