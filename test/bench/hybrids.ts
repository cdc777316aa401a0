import {mkdir, mkdtemp, rm} from 'node:fs/promises'
import {createRequire} from 'node:module'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {pathToFileURL} from 'node:url'
import {medianRatio, round} from '../../src/bench/measure.js'
import {openDecoder} from '../../src/llm/decoder.js'
import {readModelFiles} from '../../src/llm/model-files.js'
import {withQuantised} from '../../src/llm/precision.js'
import {cacheBytes, cacheShapeOf} from '../../src/llm/sequence-cache.js'
import {writeGguf} from '../support/gguf-model.js'
import {qwen05b, type Shape, writeRandomModel} from './random-model.js'

/** LFM2 350M: its sizes. */
const sizes = {
  ...{vocab_size: 65_536, hidden_size: 1024, intermediate_size: 4608, num_hidden_layers: 16, num_attention_heads: 16},
  ...{num_key_value_heads: 8, max_position_embeddings: 32_768, tie_word_embeddings: true},
}
const plainShape = {...qwen05b, ...sizes}
const attentionLayers: readonly number[] = [2, 5, 8, 10, 12, 14]
const {rms_norm_eps: norm_eps, hidden_act: _, ...lfm2Base} = plainShape
const lfm2Config = {
  ...lfm2Base,
  ...{architectures: ['Lfm2ForCausalLM'], model_type: 'lfm2', norm_eps, block_auto_adjust_ff_dim: false},
  conv_L_cache: 3,
  layer_types: Array.from({length: sizes.num_hidden_layers}, (_, i) =>
    attentionLayers.includes(i) ? 'full_attention' : 'conv',
  ),
}

function lfm2Tensors(): [string, number[]][] {
  const {vocab_size: vocab, hidden_size: hidden, intermediate_size: inner} = sizes
  const headDim = hidden / sizes.num_attention_heads
  const keys = headDim * sizes.num_key_value_heads
  const layer = (i: number): [string, number[]][] => {
    const name = (part: string) => `model.layers.${i}.${part}.weight`
    const mixer: [string, number[]][] = attentionLayers.includes(i)
      ? [
          [name('self_attn.q_proj'), [hidden, hidden]],
          [name('self_attn.k_proj'), [keys, hidden]],
          [name('self_attn.v_proj'), [keys, hidden]],
          [name('self_attn.out_proj'), [hidden, hidden]],
          [name('self_attn.q_layernorm'), [headDim]],
          [name('self_attn.k_layernorm'), [headDim]],
        ]
      : [
          [name('conv.in_proj'), [3 * hidden, hidden]],
          [name('conv.conv'), [hidden, 1, lfm2Config.conv_L_cache]],
          [name('conv.out_proj'), [hidden, hidden]],
        ]
    return [
      [name('operator_norm'), [hidden]],
      ...mixer,
      [name('ffn_norm'), [hidden]],
      [name('feed_forward.w1'), [inner, hidden]],
      [name('feed_forward.w3'), [inner, hidden]],
      [name('feed_forward.w2'), [hidden, inner]],
    ]
  }
  return [
    ['model.embed_tokens.weight', [vocab, hidden]],
    ...Array.from({length: sizes.num_hidden_layers}, (_, i) => layer(i)).flat(),
    ['model.embedding_norm.weight', [hidden]],
  ]
}

const [context, promptTokens, replyTokens, chunk] = [4096, 512, 20, 256]
const memoryPositions = 8192
const text = Array.from({length: context}, (_, i) => 10 + ((i * 7) % 80))

/** A program with a text of `context` tokens in its cache. */
interface Contender {
  name: string
  /** Durations of a prompt without a past and of a reply after the text, ms. */
  prefill(): Promise<number>
  decode(): Promise<number>
  close(): Promise<void>
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}

async function openOwn(name: string, folder: string): Promise<Contender & {bytes: number}> {
  const [threads, precision] = [1, 'w8'] as const
  const {directory, spec} = await readModelFiles(folder, {threads, numCtx: memoryPositions, precision})
  const options = {folder: join(folder, 'cache'), model: folder, threads}
  const weights = await withQuantised(spec, directory.tensors, precision, options)
  const decoder = await openDecoder(spec, weights, {contextLength: memoryPositions, threads})
  const read = async (count: number) => {
    const cache = decoder.newCache()
    const slot = cache.add()
    for (let at = 0; at < count; at += chunk)
      await decoder.prefill(cache, slot, text.slice(at, Math.min(count, at + chunk)), {logits: false})
    return cache
  }
  const cache = await read(context)
  return {
    name,
    bytes: cacheBytes(cacheShapeOf(spec), memoryPositions),
    prefill: () => timed(() => read(promptTokens)),
    decode: () =>
      timed(async () => {
        for (let i = 0; i < replyTokens; i++) await decoder.step(cache, [10 + i], {logits: false})
      }),
    close: () => decoder.release(),
  }
}

/** @param folder of an installation of node-llama-cpp */
async function openPeer(folder: string, modelPath: string): Promise<Contender> {
  const require = createRequire(join(resolve(folder), 'package.json'))
  const {getLlama} = await import(pathToFileURL(require.resolve('node-llama-cpp')).href)
  const llama = await getLlama({gpu: false, build: 'never', logLevel: 'error'})
  const model = await llama.loadModel({modelPath})
  const open = async (contextSize: number) => {
    const opened = await model.createContext({contextSize, threads: {ideal: 1, min: 1}, batchSize: 512})
    return {opened, sequence: opened.getSequence()}
  }
  const {sequence} = await open(memoryPositions)
  await sequence.evaluateWithoutGeneratingNewTokens(text)
  return {
    name: 'llama.cpp',
    async prefill() {
      const other = await open(1024)
      // The first run allocates its buffers.
      await other.sequence.evaluateWithoutGeneratingNewTokens(text.slice(0, 16))
      await other.sequence.clearHistory()
      const ms = await timed(() => other.sequence.evaluateWithoutGeneratingNewTokens(text.slice(0, promptTokens)))
      await other.opened.dispose()
      return ms
    },
    decode: () =>
      timed(async () => {
        let count = 0
        for await (const _ of sequence.evaluate([10], {temperature: 0, yieldEogToken: true}))
          if (++count === replyTokens) break
      }),
    close: () => llama.dispose(),
  }
}

/**
 * Compares a model of the sizes of LFM2 350M with a Qwen2 of the same sizes: random weights, 8 bits, one thread. If
 * `SVC_BENCH_NODE_LLAMA_CPP` is the folder of an installation of node-llama-cpp, it also compares it with llama.cpp and q8_0.
 *
 * Ratios above 1 mean that the hybrid is faster: prompts of 512 tokens, and replies after 4096 tokens. The ratio of memory is
 * that of the keys, values and states of 8192 tokens. `SVC_BENCH_ROUNDS` is the number of rounds, in which all alternate;
 * default 3.
 */
export async function hybrids() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const contenders: Contender[] = []
  try {
    const [hybridFolder, plainFolder] = [join(folder, 'hybrid'), join(folder, 'plain')]
    for (const each of [hybridFolder, plainFolder]) await mkdir(each)
    await writeRandomModel(hybridFolder, lfm2Config as unknown as Shape, 'BF16', {}, lfm2Tensors())
    await writeRandomModel(plainFolder, plainShape, 'BF16')
    const [hybrid, plain] = [await openOwn('hybrid', hybridFolder), await openOwn('plain', plainFolder)]
    contenders.push(hybrid, plain)
    const peer = process.env.SVC_BENCH_NODE_LLAMA_CPP
    if (peer) {
      const file = join(folder, 'hybrid.gguf')
      await writeGguf(file, hybridFolder, {type: 'Q8_0'})
      contenders.push(await openPeer(peer, file))
    }
    const times = contenders.map(() => ({prefill: [] as number[], decode: [] as number[]}))
    for (let i = 0; i < Number(process.env.SVC_BENCH_ROUNDS ?? 3); i++)
      for (const [at, {prefill, decode}] of contenders.entries()) {
        times[at]?.prefill.push(await prefill())
        times[at]?.decode.push(await decode())
      }
    const [own] = times as [(typeof times)[0]]
    const rows = contenders.slice(1).map(({name}, i) => {
      const other = times[i + 1] as typeof own
      const ratio = (what: 'prefill' | 'decode') => round(medianRatio(other[what], own[what]))
      return {compared_with: name, prefill: ratio('prefill'), decode: ratio('decode')}
    })
    return {memory: round(hybrid.bytes / plain.bytes), rows}
  } finally {
    for (const {close} of contenders) await close()
    await rm(folder, {recursive: true})
  }
}
