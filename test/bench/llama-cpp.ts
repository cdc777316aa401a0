import {execFile} from 'node:child_process'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {createRequire} from 'node:module'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {pathToFileURL} from 'node:url'
import {promisify} from 'node:util'
import {median, round} from '../../src/bench/measure.js'
import {type GenerateRequest, startEngine} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {writeRandomGguf} from './gguf.js'
import {qwen05b, writeRandomModel} from './random-model.js'

const promptTokens = 128
const replyTokens = 12
const rounds = 3

interface Speeds {
  prefill: number[]
  decode: number[]
}

/**
 * Compares prompts and single streams with llama.cpp for the same shape, dtype and number of threads: tokens per second
 * and their ratios. The rounds alternate. llama.cpp is installed for the run outside the project.
 */
export async function llamaCpp() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    await writeRandomModel(folder, qwen05b, 'F32')
    await writeRandomGguf(join(folder, 'model.gguf'), qwen05b)
    const peer = await openPeer(folder)
    const engine = await startEngine(folder, {threads: 1, numCtx: 1024})
    const speeds = {svc: {prefill: [], decode: []} as Speeds, peer: {prefill: [], decode: []} as Speeds}
    for (let round = -1; round < rounds; round++) {
      const [own, other] = [await runOwn(engine), await peer.run()]
      if (round === -1) continue
      for (const [speed, run] of [[speeds.svc, own] as const, [speeds.peer, other] as const]) {
        speed.prefill.push(run.prefill)
        speed.decode.push(run.decode)
      }
    }
    await engine.close()
    await peer.close()
    return {against: peer.name, model: 'random Qwen2 of 0.5B, f32', threads: 1, ...compare(speeds)}
  } finally {
    await rm(folder, {recursive: true})
  }
}

function compare({svc, peer}: {svc: Speeds; peer: Speeds}) {
  const side = ({prefill, decode}: Speeds) => ({prefill: round(median(prefill)), decode: round(median(decode))})
  const ratio = (a: readonly number[], b: readonly number[]) =>
    round(median(a.map((speed, i) => speed / (b[i] as number))), 2)
  return {
    svc: side(svc),
    peer: side(peer),
    ratio: {prefill: ratio(svc.prefill, peer.prefill), decode: ratio(svc.decode, peer.decode)},
  }
}

async function runOwn(engine: Awaited<ReturnType<typeof startEngine>>) {
  const request: GenerateRequest = {
    prompt: {kind: 'raw', text: 'a'.repeat(promptTokens - 1)},
    maxTokens: replyTokens,
    stop: [],
    sampling: {...defaultSampling, temperature: 0},
  }
  for await (const event of engine.generate(request))
    if (event.type === 'done')
      return {
        prefill: (event.promptTokens * 1000) / event.prefillMs,
        decode: ((event.completionTokens - 1) * 1000) / event.decodeMs,
      }
  throw new Error('The engine ended without a summary.')
}

/** The used part of the API of node-llama-cpp. */
interface LlamaCpp {
  getLlama(options: object): Promise<{
    loadModel(options: object): Promise<{
      createContext(options: object): Promise<{
        getSequence(): {
          clearHistory(): Promise<void>
          evaluateWithoutGeneratingNewTokens(tokens: number[]): Promise<void>
          evaluate(tokens: number[], options?: object): AsyncGenerator<number>
        }
        dispose(): Promise<void>
      }>
    }>
    dispose(): Promise<void>
  }>
}

async function openPeer(folder: string) {
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  const install = ['install', '--no-save', '--ignore-scripts', '--loglevel', 'error', 'node-llama-cpp@3']
  await promisify(execFile)('npm', install, {cwd: folder})
  const require = createRequire(join(folder, 'package.json'))
  const entry = join(folder, 'node_modules/node-llama-cpp/dist/index.js')
  const {version} = require(join(folder, 'node_modules/node-llama-cpp/package.json')) as {version: string}
  const {getLlama} = (await import(pathToFileURL(entry).href)) as LlamaCpp
  const llama = await getLlama({gpu: false, build: 'never', maxThreads: 1, logLevel: 'error'})
  const model = await llama.loadModel({modelPath: join(folder, 'model.gguf')})
  const context = await model.createContext({contextSize: 1024, threads: 1, batchSize: 512})
  const sequence = context.getSequence()
  return {
    name: `node-llama-cpp ${version}`,
    async run() {
      await sequence.clearHistory()
      const started = performance.now()
      await sequence.evaluateWithoutGeneratingNewTokens(Array.from({length: promptTokens}, (_, i) => i + 10))
      const read = performance.now()
      let count = 0
      for await (const _ of sequence.evaluate([7], {temperature: 0})) if (++count === replyTokens) break
      const ended = performance.now()
      return {prefill: (promptTokens * 1000) / (read - started), decode: (count * 1000) / (ended - read)}
    },
    async close() {
      await context.dispose()
      await llama.dispose()
    },
  }
}
