import {spawn} from 'node:child_process'
import {existsSync} from 'node:fs'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {median, medianRatio, round, rounds, timeProcess} from '../../src/bench/measure.js'
import {packageRoot} from '../../src/files/index.js'
import {startEngine} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {startServer} from '../support/server.js'
import {writeFiles} from '../support/temporary.js'
import {tinyModelFiles} from '../support/tiny-model.js'
import {writeRandomGguf} from './gguf.js'
import {type Shape, tinyLlama, writeRandomModel} from './random-model.js'

/** 81 million parameters. */
const shape: Shape = {
  ...tinyLlama,
  hidden_size: 768,
  intermediate_size: 2048,
  num_hidden_layers: 8,
  num_attention_heads: 12,
}
const prompt = 'Why is the sky blue, and why is it red when the sun sets in the evening?'
const svc = join(packageRoot, 'bin', 'svc.js')

/** Prints the first token of a GGUF model, after a number of tokens, by node-llama-cpp. */
const peerProgram = `import {getLlama} from 'node-llama-cpp'
const [file, count, threads] = process.argv.slice(2)
const llama = await getLlama({gpu: false, build: 'never', logLevel: 'error'})
const model = await llama.loadModel({modelPath: file})
const context = await model.createContext({contextSize: 512, threads: Number(threads)})
const sequence = context.getSequence()
const tokens = Array.from({length: Number(count)}, (_, i) => 100 + i)
for await (const token of sequence.evaluate(tokens, {temperature: 0, yieldEogToken: true})) {
  process.stdout.write(String(token))
  break
}
process.exit(0)
`

/**
 * Time from the start of `svc run` until its first token, compared with loading and prefill alone. It is also compared with
 * node-llama-cpp, if `SVC_BENCH_NODE_LLAMA_CPP` names a folder that has it. Weights are random, of 32 bits. Also measures
 * the first reply of a second model of a server, compared with its load alone, and `svc list` with 200 models, compared with
 * `svc --help`.
 */
export async function chat() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const {signal} = new AbortController()
  const peer = process.env.SVC_BENCH_NODE_LLAMA_CPP
  try {
    const model = join(folder, 'model')
    const gguf = join(folder, 'model.gguf')
    await writeRandomModel(model, shape, 'F32')
    if (peer !== undefined) {
      await writeRandomGguf(gguf, shape)
      await writeFile(join(peer, 'first-token.mjs'), peerProgram)
    }
    const env = {...process.env, HOME: folder, HF_HOME: join(folder, 'hf'), SVC_THREADS: '1'}
    const run = [
      svc,
      'run',
      model,
      prompt,
      '--json',
      '--max-tokens',
      '1',
      '--precision',
      'f32',
      '--chat-template',
      'none',
    ]
    const [firsts, bases, peers]: [number[], number[], number[]] = [[], [], []]
    for await (const i of rounds(5, {warmUps: 1, signal})) {
      const first = await firstOutput(run, {cwd: folder, env})
      const base = await loadAndPrefill(model)
      const other =
        peer === undefined
          ? undefined
          : await firstOutput([join(peer, 'first-token.mjs'), gguf, String(prompt.length), '1'], {cwd: peer, env})
      if (i < 0) continue
      firsts.push(first)
      bases.push(base)
      if (other !== undefined) peers.push(other)
    }
    return {
      first_token_ms: round(median(firsts)),
      load_and_prefill_ms: round(median(bases)),
      to_load_and_prefill: round(medianRatio(firsts, bases), 2),
      ...(peers.length === 0
        ? {node_llama_cpp: 'needs SVC_BENCH_NODE_LLAMA_CPP'}
        : {node_llama_cpp_ms: round(median(peers)), to_node_llama_cpp: round(medianRatio(firsts, peers), 2)}),
      ...(await secondModel(folder, signal)),
      ...(await listing(folder, env, signal)),
    }
  } finally {
    await rm(folder, {recursive: true})
  }
}

/** Time until a program of Node prints something, ms. */
function firstOutput(args: readonly string[], options: {cwd: string; env: NodeJS.ProcessEnv}): Promise<number> {
  const started = performance.now()
  const child = spawn(process.execPath, args, {...options, stdio: ['ignore', 'pipe', 'pipe']})
  return new Promise((resolve, reject) => {
    let first: number | undefined
    let errors = ''
    child.stdout.on('data', () => {
      first ??= performance.now() - started
    })
    child.stderr.on('data', (text) => {
      errors += text
    })
    child.on('close', () => (first === undefined ? reject(new Error(errors)) : resolve(first)))
  })
}

/** Time to load a model and to prefill the prompt, ms. */
async function loadAndPrefill(model: string): Promise<number> {
  const started = performance.now()
  const engine = await startEngine(model, {threads: 1, numCtx: 0, precision: 'f32'})
  const request = {prompt: {kind: 'raw', text: prompt} as const, maxTokens: 1, stop: [], sampling: defaultSampling}
  for await (const _ of engine.generate(request)) break
  const taken = performance.now() - started
  await engine.close()
  return taken
}

/**
 * Time of a reply of one token of a model that a server has to load, while it has another one, compared with its load alone.
 * Its weights of 8 bits are in the cache of derived weights.
 */
async function secondModel(folder: string, signal: AbortSignal) {
  const root = join(folder, 'runs')
  const second = join(root, 'second')
  for (const name of ['first', 'second']) await writeRandomModel(join(root, name), shape, 'F32')
  const {SVC_SPEECH_CACHE_DIR: before} = process.env
  const cache = {SVC_SPEECH_CACHE_DIR: join(folder, 'speech')}
  Object.assign(process.env, cache)
  const flags = ['--models', root, '--precision', 'w8', '--chat-template', 'none']
  const server = await startServer(flags, {cwd: folder, isAlone: true, env: {HOME: folder, ...cache}})
  try {
    const reply = async (model: string, keepAlive: number) => {
      const body = {model, prompt: 'Hi', stream: false, options: {num_predict: 1}, keep_alive: keepAlive}
      const started = performance.now()
      const response = await fetch(`${server.baseUrl}/api/generate`, {method: 'POST', body: JSON.stringify(body)})
      if (!response.ok) throw new Error(await response.text())
      await response.text()
      return performance.now() - started
    }
    await reply('first', -1)
    const [replies, loads]: [number[], number[]] = [[], []]
    for await (const i of rounds(5, {warmUps: 1, signal})) {
      const taken = await reply('second', 0)
      const started = performance.now()
      const engine = await startEngine(second, {threads: 1, numCtx: 0, precision: 'w8'})
      const load = performance.now() - started
      await engine.close()
      if (i < 0) continue
      replies.push(taken)
      loads.push(load)
    }
    return {
      second_model_reply_ms: round(median(replies)),
      second_model_load_ms: round(median(loads)),
      second_model_reply_to_load: round(medianRatio(replies, loads), 2),
    }
  } finally {
    await server.stop()
    if (before === undefined) delete process.env.SVC_SPEECH_CACHE_DIR
    else process.env.SVC_SPEECH_CACHE_DIR = before
  }
}

async function listing(folder: string, env: NodeJS.ProcessEnv, signal: AbortSignal) {
  const files = tinyModelFiles({layout: 'single'})
  const root = join(folder, 'listing')
  const all = Array.from({length: 200}, (_, i) =>
    Object.entries(files).map(([name, text]) => [`models/m${i}/${name}`, text]),
  )
  await writeFiles(root, {...Object.fromEntries(all.flat()), 'Svc.toml': ''})
  if (!existsSync(join(root, 'models/m199/config.json'))) throw new Error('The models are missing.')
  const [lists, helps]: [number[], number[]] = [[], []]
  for await (const i of rounds(7, {warmUps: 2, signal})) {
    const list = await timeProcess(process.execPath, [svc, 'list'], {cwd: root, env, signal})
    const help = await timeProcess(process.execPath, [svc, '--help'], {cwd: root, env, signal})
    if (i < 0) continue
    lists.push(list)
    helps.push(help)
  }
  return {
    list_200_ms: round(median(lists)),
    help_ms: round(median(helps)),
    list_to_help: round(medianRatio(lists, helps), 2),
  }
}
