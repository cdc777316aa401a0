import {writeFile} from 'node:fs/promises'
import {createRequire} from 'node:module'
import {join, resolve} from 'node:path'
import {pathToFileURL} from 'node:url'
import {median, round} from '../../src/bench/measure.js'
import {type AdapterSource, loadLanguageModel} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {openAdapter, readTensorFloat32} from '../../src/weights/index.js'
import {ggufFile} from '../support/gguf-file.js'
import {ggufName, writeGguf} from '../support/gguf-model.js'

const prompt = [1, 2, 3, 4]
const [requests, replyTokens, rounds] = [24, 16, 3]

/** Runs the requests, the first one for the first adapter and so on, and returns the number of tokens of the replies. */
type RoundRobin = () => Promise<number>

/** Writes an adapter as llama.cpp reads it. */
async function writeGgufAdapter(file: string, folder: string): Promise<void> {
  const {deltas} = await openAdapter(folder)
  const alpha = (deltas[0]?.scale ?? 1) * (deltas[0]?.a.shape[0] ?? 1)
  const halves = deltas.flatMap(({target, a, b}) => [
    {name: `${ggufName(target, 'qwen2')}.lora_a`, entry: a},
    {name: `${ggufName(target, 'qwen2')}.lora_b`, entry: b},
  ])
  const tensors = await Promise.all(
    halves.map(async ({name, entry}) => {
      const {buffer} = await readTensorFloat32(entry)
      return {name, type: 0, shape: entry.shape, data: new Uint8Array(buffer)}
    }),
  )
  const metadata = {
    'general.architecture': {text: 'qwen2'},
    'general.type': {text: 'adapter'},
    'adapter.type': {text: 'lora'},
    'adapter.lora.alpha': {f32: alpha},
  }
  await writeFile(file, ggufFile(metadata, tensors))
}

/** llama.cpp with a context for each adapter, which it had before the first request. */
async function openPeer(place: string, model: string, folders: readonly string[]) {
  const require = createRequire(join(resolve(place), 'package.json'))
  const {getLlama} = await import(pathToFileURL(require.resolve('node-llama-cpp')).href)
  const llama = await getLlama({gpu: false, build: 'never', logLevel: 'error'})
  const modelPath = `${model}.gguf`
  await writeGguf(modelPath, model, {type: 'Q8_0'})
  const loaded = await llama.loadModel({modelPath})
  const sequences: {
    clearHistory(): Promise<void>
    evaluate(tokens: readonly number[], options: object): AsyncIterable<number>
  }[] = []
  for (const folder of folders) {
    const filePath = `${folder}.gguf`
    await writeGgufAdapter(filePath, folder)
    const context = await loaded.createContext({
      contextSize: 256,
      threads: {ideal: 1, min: 1},
      lora: {adapters: [{filePath}]},
    })
    sequences.push(context.getSequence())
  }
  const run: RoundRobin = async () => {
    let tokens = 0
    for (let i = 0; i < requests; i++) {
      const sequence = sequences[i % sequences.length] as (typeof sequences)[number]
      await sequence.clearHistory()
      let count = 0
      for await (const _ of sequence.evaluate(prompt, {temperature: 0, yieldEogToken: true}))
        if (++count === replyTokens) break
      tokens += count
    }
    return tokens
  }
  return {run, close: () => llama.dispose()}
}

async function openOwn(model: string, folders: readonly string[]) {
  const sources: AdapterSource[] = []
  for (const folder of folders)
    sources.push({name: folder, folder, key: (await openAdapter(folder)).key, isPinned: true})
  const loaded = await loadLanguageModel(model, {
    threads: 1,
    numCtx: 256,
    precision: 'w8',
    adapters: {maxBytes: Infinity, pinned: sources},
  })
  const reply = async (adapter: AdapterSource | undefined) => {
    const request = {
      prompt: {kind: 'tokens' as const, tokens: prompt},
      maxTokens: replyTokens,
      stop: [],
      sampling: {...defaultSampling, temperature: 0},
      ...(adapter === undefined ? {} : {adapter}),
    }
    for await (const event of loaded.generate(request)) if (event.type === 'done') return event.completionTokens
    return 0
  }
  const run: RoundRobin = async () => {
    const counts = await Promise.all(Array.from({length: requests}, (_, i) => reply(sources[i % sources.length])))
    return counts.reduce((sum, count) => sum + count, 0)
  }
  return {run, close: () => loaded.release()}
}

/** Tokens per second by the clock and by processor time. */
async function speedOf(run: RoundRobin): Promise<{wall: number; processor: number}> {
  const before = process.cpuUsage()
  const started = performance.now()
  const tokens = await run()
  const ms = performance.now() - started
  const {user, system} = process.cpuUsage(before)
  return {wall: (1000 * tokens) / ms, processor: (1e6 * tokens) / (user + system)}
}

/**
 * Requests for several adapters in turn: in one batch with w8, and with llama.cpp and q8_0, which has one adapter per batch.
 * The rounds of both alternate.
 * @param place folder of an installation of node-llama-cpp
 */
export async function comparePeer(place: string, model: string, folders: readonly string[]) {
  const own = await openOwn(model, folders)
  try {
    const peer = await openPeer(place, model, folders)
    try {
      const ratios: {wall: number; processor: number}[] = []
      for (let i = 0; i <= rounds; i++) {
        const [a, b] = [await speedOf(own.run), await speedOf(peer.run)]
        // The first round allocates memory.
        if (i > 0) ratios.push({wall: a.wall / b.wall, processor: a.processor / b.processor})
      }
      const of = (what: 'wall' | 'processor') => round(median(ratios.map((ratio) => ratio[what])))
      return {speed: of('wall'), by_processor_time: of('processor')}
    } finally {
      await peer.close()
    }
  } finally {
    await own.close()
  }
}
