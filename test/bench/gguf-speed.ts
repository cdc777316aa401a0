import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {decodeSpeed, prefillSpeed} from '../../src/bench/llm.js'
import {median, round} from '../../src/bench/measure.js'
import {startEngine} from '../../src/llm/index.js'
import {type GgufTypeName, writeGguf} from '../support/gguf-model.js'
import {ggufLoad} from './gguf-load.js'
import {qwen05b, writeRandomModel} from './random-model.js'

/** Three layers of Qwen2.5-0.5B and few tokens, so that the layers take most of the time. */
const shape = {...qwen05b, num_hidden_layers: 3, vocab_size: 4096, max_position_embeddings: 2048}

const contenders: readonly {name: string; precision: 'w8' | 'w4'; type?: GgufTypeName}[] = [
  {name: 'safetensors w8', precision: 'w8'},
  {name: 'Q8_0 w8', precision: 'w8', type: 'Q8_0'},
  {name: 'Q8_0 w4', precision: 'w4', type: 'Q8_0'},
  {name: 'safetensors w4', precision: 'w4'},
  {name: 'Q4_0 w4', precision: 'w4', type: 'Q4_0'},
  {name: 'Q4_1 w4', precision: 'w4', type: 'Q4_1'},
]

/**
 * Compares GGUF files with safetensors files of the same random model, with one thread. Measures the first load, which writes
 * copies of the weights, and a second one, ms. Prompts of 512 tokens and single replies, tokens/s, are measured in
 * alternating rounds. `SVC_BENCH_ROUNDS` is the number of rounds; default 3.
 *
 * With `SVC_BENCH_GGUF`, the path of a GGUF file, it measures only loads of this file. If `SVC_BENCH_NODE_LLAMA_CPP` is the folder
 * of an installation of node-llama-cpp, it also measures those of llama.cpp.
 */
export async function ggufSpeed() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const cacheBefore = process.env.XDG_CACHE_HOME
  process.env.XDG_CACHE_HOME = join(folder, 'cache')
  const rounds = Number(process.env.SVC_BENCH_ROUNDS ?? 3)
  const {SVC_BENCH_GGUF: file, SVC_BENCH_NODE_LLAMA_CPP: peer} = process.env
  try {
    if (file) return {rows: await ggufLoad(file, join(folder, 'cache'), rounds, peer)}
    await writeRandomModel(folder, shape, 'BF16')
    const opened = []
    for (const {name, precision, type} of contenders) {
      const model = type === undefined ? folder : join(folder, `${type}.gguf`)
      if (type !== undefined) await writeGguf(model, folder, {type})
      const load = () => startEngine(model, {threads: 1, precision, numCtx: 1024})
      const first = await load()
      await first.close()
      const engine = await load()
      opened.push({name, engine, firstLoadMs: first.loadMs, prefill: [] as number[], decode: [] as number[]})
    }
    for (let i = 0; i < rounds; i++)
      for (const {engine, prefill, decode} of opened) {
        prefill.push(await prefillSpeed(engine, 512))
        decode.push(await decodeSpeed(engine, {streams: 1, reply: 32, context: 1}))
      }
    const rows = opened.map(({name, engine, firstLoadMs, prefill, decode}) => ({
      name,
      first_load_ms: round(firstLoadMs),
      load_ms: round(engine.loadMs),
      prefill: round(median(prefill)),
      decode: round(median(decode)),
    }))
    for (const {engine} of opened) await engine.close()
    return {rows}
  } finally {
    if (cacheBefore === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = cacheBefore
    await rm(folder, {recursive: true})
  }
}
