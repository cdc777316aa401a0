import {mkdtemp, rm} from 'node:fs/promises'
import {createRequire} from 'node:module'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {pathToFileURL} from 'node:url'
import {medianRatio, round} from '../../src/bench/measure.js'
import {openDecoder} from '../../src/llm/decoder.js'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import {type NibbleScheme, nibbleScheme, type Precision, withQuantised} from '../../src/llm/precision.js'
import {openRunDirectory} from '../../src/weights/index.js'
import {writeGguf} from '../support/gguf-model.js'
import {qwen05b, writeRandomModel} from './random-model.js'

/** Four layers of Qwen3 0.6B without norms of its heads, whose rows divide by 256, and few tokens. */
const shape = {
  ...qwen05b,
  hidden_size: 1024,
  intermediate_size: 3072,
  num_hidden_layers: 4,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  vocab_size: 4096,
  max_position_embeddings: 2048,
}

const promptTokens = Number(process.env.SVC_BENCH_TOKENS ?? 256)
const contextLength = promptTokens + 256
const replyTokens = 24

/** Processor time of a token, ms. */
interface Times {
  prompt: number
  reply: number
}

interface Contender {
  name: string
  run(): Promise<Times>
  close(): Promise<unknown>
}

const schemes: readonly (readonly [name: string, precision: Precision, scheme?: NibbleScheme])[] = [
  ['w4', 'w4'],
  ['w4, down projections too', 'w4', {...nibbleScheme, downBits: 4}],
  ['w4, blocks of 64', 'w4', {...nibbleScheme, block: 64}],
  ['w4, blocks of 128', 'w4', {...nibbleScheme, block: 128}],
  ['w4, blocks of 128, down projections too', 'w4', {block: 128, downBits: 4}],
  ['w8', 'w8'],
]

/**
 * Compares schemes of 4 bits with each other, and with llama.cpp and a q4_0 file if `SVC_BENCH_NODE_LLAMA_CPP` names a folder that
 * has node-llama-cpp. Everything runs in this process with one thread, in alternating rounds. The figures are processor time,
 * because other programs share the machine. A ratio is the median of the quotients of the same round, and above 1 if the scheme is
 * faster than `w4`. `SVC_BENCH_ROUNDS` is the number of rounds, default 5, and `SVC_BENCH_TOKENS` that of tokens of the prompt.
 */
export async function w4() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const contenders: Contender[] = []
  try {
    await writeRandomModel(folder, shape, 'BF16')
    const file = join(folder, 'q4_0.gguf')
    await writeGguf(file, folder, {type: 'Q4_0'})
    for (const [name, precision, scheme] of schemes) contenders.push(await own(name, folder, folder, precision, scheme))
    contenders.push(await own('w4 from a q4_0 file', file, folder, 'w4'))
    contenders.push(await own('w8 from a q4_0 file', file, folder, 'w8'))
    const peer = process.env.SVC_BENCH_NODE_LLAMA_CPP
    if (peer !== undefined) contenders.push(await llamaCpp(peer, file))
    const times = contenders.map(() => [] as Times[])
    for (const {run} of contenders) await run()
    for (let i = 0; i < Number(process.env.SVC_BENCH_ROUNDS ?? 5); i++)
      for (const [at, {run}] of contenders.entries()) times[at]?.push(await run())
    const ratio = (at: number, part: keyof Times) =>
      round(
        medianRatio(
          (times[0] ?? []).map((each) => each[part]),
          (times[at] ?? []).map((each) => each[part]),
        ),
        2,
      )
    return {
      rows: contenders.map(({name}, at) => ({name, prompt: ratio(at, 'prompt'), reply: ratio(at, 'reply')})),
      w4_ms_per_token: times[0]?.map(({prompt, reply}) => [round(prompt, 3), round(reply, 2)]),
    }
  } finally {
    for (const {close} of contenders) await close()
    await rm(folder, {recursive: true})
  }
}

/** Processor time of this process, ms. */
async function cpuTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const {user, system} = process.cpuUsage(before)
  return (user + system) / 1000
}

const tokensFrom = (start: number, count: number) => Array.from({length: count}, (_, i) => 10 + ((start + i * 7) % 80))

async function own(
  name: string,
  path: string,
  folder: string,
  precision: Precision,
  scheme?: NibbleScheme,
): Promise<Contender> {
  const {config, readConfig, tensors} = await openRunDirectory(path)
  const spec = readDecoderSpec(await readConfig(), config, (tensor) => tensors.has(tensor))
  const options = {folder: join(folder, 'cache'), model: path, threads: 1}
  const weights = await withQuantised(spec, tensors, precision, options, scheme)
  const decoder = await openDecoder(spec, weights, {contextLength, threads: 1})
  return {
    name,
    async run() {
      const cache = decoder.newCache()
      const slot = cache.add()
      const prompt = await cpuTime(() => decoder.prefill(cache, slot, tokensFrom(0, promptTokens), {predict: 'last'}))
      const reply = await cpuTime(async () => {
        for (const token of tokensFrom(3, replyTokens)) await decoder.step(cache, [token])
      })
      return {prompt: prompt / promptTokens, reply: reply / replyTokens}
    },
    close: () => decoder.release(),
  }
}

interface PeerSequence {
  evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<unknown>
  clearHistory(): Promise<void>
}

async function llamaCpp(folder: string, file: string): Promise<Contender> {
  const require = createRequire(join(resolve(folder), 'package.json'))
  const {getLlama} = await import(pathToFileURL(require.resolve('node-llama-cpp')).href)
  const llama = await getLlama({gpu: false, build: 'never', logLevel: 'error'})
  const model = await llama.loadModel({modelPath: file})
  const context = await model.createContext({contextSize: contextLength, threads: 1, batchSize: 512})
  const sequence: PeerSequence = context.getSequence()
  return {
    name: 'llama.cpp q4_0',
    async run() {
      await sequence.clearHistory()
      const prompt = await cpuTime(() => sequence.evaluateWithoutGeneratingNewTokens(tokensFrom(0, promptTokens)))
      const reply = await cpuTime(async () => {
        for (const token of tokensFrom(3, replyTokens)) await sequence.evaluateWithoutGeneratingNewTokens([token])
      })
      return {prompt: prompt / promptTokens, reply: reply / replyTokens}
    },
    async close() {
      await model.dispose()
      await llama.dispose()
    },
  }
}
