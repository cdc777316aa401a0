import {execFile, execFileSync, spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync, readFileSync} from 'node:fs'
import {mkdir, mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {complete, decodeSpeed, prefillSpeed, streamWaits} from '../../src/bench/llm.js'
import {median, round} from '../../src/bench/measure.js'
import {packageRoot} from '../../src/files/index.js'
import {type Engine, type EngineOptions, startEngine} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {writeRandomGguf} from './gguf.js'
import {compareLookup} from './llm-lookup.js'
import {qwen05b, type RandomOptions, type Shape, tinyLlama, writeRandomModel} from './random-model.js'

/** Programs derived from llama.cpp, by the variable with the directory of `llama-bench` and other programs. */
const peerPrograms = [
  {name: 'llama.cpp', variable: 'SVC_BENCH_LLAMA_CPP', args: []},
  // Arranges the weights for its fast kernels while it loads them.
  {name: 'ik_llama.cpp', variable: 'SVC_BENCH_IK_LLAMA_CPP', args: ['-rtr', '1'], batchArgs: ['-rtr']},
]

interface Peer {
  name: string
  directory: string
  args: readonly string[]
  batchArgs: readonly string[]
}

type Precision = 'w8' | 'w4'

/** Files of a peer that are compared with a precision of svc. */
const types: Readonly<Record<Precision, readonly string[]>> = {w8: ['q8_0'], w4: ['q4_0', 'q4_0-pure']}

const shapes: Readonly<Record<string, Shape>> = {'qwen2-0.5b': qwen05b, 'tinyllama-1.1b': tinyLlama}

/** What the rows of one shape, number of threads and precision need. */
interface Place {
  /** Directory of the model, with the files of the peers. */
  model: string
  shape: Shape
  precision: Precision
  threads: number
  rounds: number
  peers: readonly Peer[]
}

const rows: Readonly<Record<string, (place: Place) => Promise<object>>> = {
  speed: compareSpeed,
  'batch-256': (place) => compareBatch(place, 256),
  'batch-1024': (place) => compareBatch(place, 1024),
  memory: compareMemory,
  turn: measureTurn,
  load: measureLoad,
  wait: measureWait,
  lookup: measureLookup,
}

/**
 * Compares svc with llama.cpp and programs derived from it, for models of the same shapes with random weights: speed of
 * prompts, replies and batches, and memory. Also measures a second turn, a load from the cache, the pauses of streams and
 * prompt lookup.
 * The rounds of all programs alternate; ratios above 1 mean that svc is better, except for memory and durations. Variables
 * select what is run: `SVC_BENCH_ROWS`, `SVC_BENCH_SHAPES`, `SVC_BENCH_PRECISIONS`, `SVC_BENCH_THREADS`, as lists with
 * commas, and `SVC_BENCH_ROUNDS`. `SVC_BENCH_MODELS` is a directory that keeps the models for the next run.
 */
export async function llmPeers() {
  const peers = peerPrograms.flatMap(({variable, batchArgs = [], ...peer}) => {
    const directory = process.env[variable]
    return directory ? [{...peer, batchArgs, directory}] : []
  })
  const {SVC_BENCH_MODELS: kept} = process.env
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'svc-bench-')))
  // Quantised copies are written here.
  process.env.XDG_CACHE_HOME = join(folder, 'cache')
  const results: object[] = []
  try {
    for (const shape of chosen('SHAPES', Object.keys(shapes))) {
      const model = join(folder, shape)
      const description = shapes[shape] as Shape
      await writeModels(model, description, peers)
      for (const threads of chosen('THREADS', ['1', '2']).map(Number)) {
        pin(threads)
        for (const precision of chosen('PRECISIONS', ['w8', 'w4']) as Precision[])
          for (const row of chosen('ROWS', Object.keys(rows))) {
            const rounds = Number(process.env.SVC_BENCH_ROUNDS ?? 5)
            const place = {model, shape: description, precision, threads, peers, rounds}
            const result = {row, shape, threads, precision, ...(await rows[row]?.(place))}
            process.stderr.write(`${JSON.stringify(result)}\n`)
            results.push(result)
          }
      }
    }
  } finally {
    if (kept === undefined) await rm(folder, {recursive: true})
  }
  return {peers: peers.map(({name}) => name), results}
}

/** The parts of a list that a variable selects. @throws Error for an unknown part */
function chosen(variable: string, all: readonly string[]): string[] {
  const list = process.env[`SVC_BENCH_${variable}`]?.split(',') ?? [...all]
  const unknown = list.find((part) => !all.includes(part))
  if (unknown !== undefined) throw new Error(`SVC_BENCH_${variable} accepts ${all}, not ${unknown}.`)
  return list
}

/** Restricts this process and its future children to the last cores, where `taskset` exists. */
function pin(threads: number): void {
  try {
    execFileSync('taskset', ['-acp', threads === 1 ? '1' : `0-${threads - 1}`, `${process.pid}`], {stdio: 'ignore'})
  } catch {}
}

/** Writes a model for svc, and the files for the peers, unless they exist. */
async function writeModels(
  folder: string,
  shape: Shape,
  peers: readonly Peer[],
  options: RandomOptions = {},
): Promise<void> {
  await mkdir(folder, {recursive: true})
  if (!existsSync(join(folder, 'model.safetensors'))) await writeRandomModel(folder, shape, 'BF16', options)
  const [quantizer] = peers
  if (quantizer === undefined || existsSync(fileOf(folder, 'q4_0-pure'))) return
  const floats = fileOf(folder, 'f32')
  await writeRandomGguf(floats, shape, options)
  for (const type of [...types.w8, ...types.w4]) {
    const [name = '', pure] = type.split('-')
    const args = [...(pure === undefined ? [] : ['--pure']), floats, fileOf(folder, type), name]
    await promisify(execFile)(join(quantizer.directory, 'llama-quantize'), args, {maxBuffer: 1 << 26})
  }
  await rm(floats)
}

const fileOf = (folder: string, type: string) => join(folder, `${type}.gguf`)

const start = ({model, precision, threads}: Place, options: Partial<EngineOptions> = {}): Promise<Engine> =>
  startEngine(model, {threads, precision, numCtx: 0, ...options})

/** The files of all peers for a precision. */
const contenders = ({peers, precision, model}: Place) =>
  peers.flatMap((peer) =>
    types[precision].map((type) => ({name: `${peer.name} ${type}`, peer, file: fileOf(model, type)})),
  )

/** Measures svc and its peers in alternating rounds. A first round of svc, which allocates its buffers, does not count. */
async function alternate<Figures extends Readonly<Record<string, number>>>(
  place: Place,
  own: () => Promise<Figures>,
  other: (peer: Peer, file: string) => Promise<Figures>,
) {
  await own()
  const svc: Figures[] = []
  const others = contenders(place).map((contender) => ({...contender, runs: [] as Figures[]}))
  for (let i = 0; i < place.rounds; i++) {
    svc.push(await own())
    for (const {peer, file, runs} of others) runs.push(await other(peer, file))
  }
  const medianOf = (runs: readonly Figures[], name: string) => median(runs.map((run) => run[name] as number))
  const names = Object.keys(svc[0] as Figures)
  const figures = (digits: number, of: (name: string) => number) =>
    Object.fromEntries(names.map((name) => [name, round(of(name), digits)]))
  return {
    svc: figures(1, (name) => medianOf(svc, name)),
    peers: Object.fromEntries(
      others.map(({name: peer, runs}) => [
        peer,
        {
          ...figures(1, (name) => medianOf(runs, name)),
          ratio: figures(2, (name) => medianOf(svc, name) / medianOf(runs, name)),
        },
      ]),
    ),
  }
}

const promptTokens = 512
const replyTokens = 48

/** Tokens per second of a prompt and of a single reply. */
async function compareSpeed(place: Place) {
  const engine = await start(place)
  const own = async () => ({
    prefill: await prefillSpeed(engine, promptTokens),
    decode: await decodeSpeed(engine, {streams: 1, reply: replyTokens, context: 1}),
  })
  const result = await alternate(place, own, async ({directory, args}, file) => {
    const sizes = ['-p', `${promptTokens}`, '-n', `${replyTokens}`, '-r', '1', '-t', `${place.threads}`]
    const {stdout} = await runPeer(directory, 'llama-bench', ['-m', file, ...sizes, '-o', 'json', ...args])
    const [prefill, decode] = (JSON.parse(stdout) as {avg_ts: number}[]).map(({avg_ts: speed}) => speed)
    return {prefill: prefill as number, decode: decode as number}
  })
  await engine.close()
  return result
}

/** Tokens per second of eight replies together, after prompts of a length. */
async function compareBatch(place: Place, context: number) {
  const [streams, reply] = [8, 24]
  // The prompts are equal and are not measured, so all but one are copied.
  const engine = await start(place, {prefixBytes: 2 ** 30})
  const own = async () => ({decode: await decodeSpeed(engine, {streams, reply, context})})
  const result = await alternate(place, own, async ({directory, batchArgs}, file) => {
    const sizes = [
      '-npp',
      `${context}`,
      '-ntg',
      `${reply}`,
      '-npl',
      `${streams}`,
      '-c',
      `${streams * (context + reply)}`,
    ]
    const args = ['-m', file, ...sizes, '-t', `${place.threads}`, ...batchArgs]
    const {stdout, stderr} = await runPeer(directory, 'llama-batched-bench', args)
    const table = `${stdout}\n${stderr}`.split('\n').filter((line) => /^\|[ \d.|]+\|\s*$/.test(line))
    return {decode: Number(table.at(-1)?.split('|')[8])}
  })
  await engine.close()
  return result
}

const runPeer = (directory: string, program: string, args: readonly string[]) =>
  promisify(execFile)(join(directory, program), args, {maxBuffer: 1 << 26})

/** Resident memory after the load and a prompt of 512 tokens, MB. */
async function compareMemory(place: Place) {
  const svc = [join(packageRoot, 'bin', 'svc.js'), 'generate', '--model', place.model, '--raw', '--max-tokens', '1']
  const settings = ['--precision', place.precision, '--threads', `${place.threads}`, '--json']
  const own = async () => {
    const args = [...svc, ...settings, 'a'.repeat(promptTokens - 1)]
    const {stdout} = await promisify(execFile)(process.execPath, args)
    return {memory_mb: (JSON.parse(stdout) as {memory_bytes: number}).memory_bytes / 1e6}
  }
  return alternate(place, own, async ({directory, args}, file) => {
    const sizes = ['-p', `${promptTokens}`, '-n', '0', '-r', '4', '-t', `${place.threads}`]
    return {memory_mb: (await residentBytes(join(directory, 'llama-bench'), ['-m', file, ...sizes, ...args])) / 1e6}
  })
}

/** Median resident memory of a program that works at its largest size for most of its time. */
async function residentBytes(file: string, args: readonly string[]): Promise<number> {
  const child = spawn(file, args, {stdio: 'ignore'})
  const ended = once(child, 'exit')
  const samples: number[] = []
  const timer = setInterval(() => {
    try {
      const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
      if (kilobytes !== undefined) samples.push(Number(kilobytes) * 1024)
    } catch {}
  }, 100)
  await ended
  clearInterval(timer)
  return median(samples)
}

/** Time to the first token of a second turn, ms: 50 tokens after a history of 1,500, which was computed or not. */
async function measureTurn(place: Place) {
  const engine = await start(place, {prefixBytes: 2 ** 30})
  const firstToken = async (tokens: readonly number[]) => {
    const sampling = {...defaultSampling, temperature: 0}
    const {queueMs, prefillMs} = await complete(engine, {
      prompt: {kind: 'tokens', tokens},
      maxTokens: 2,
      stop: [],
      sampling,
    })
    return queueMs + prefillMs
  }
  const [known, unknown]: [number[], number[]] = [[], []]
  for (let i = 0; i < 2 * place.rounds; i += 2) {
    const turn = (seed: number, length: number) => Array.from({length}, (_, at) => 10 + seed + ((at * 7) % 80))
    await firstToken(turn(i, 1500))
    known.push(await firstToken(turn(i, 1550)))
    unknown.push(await firstToken(turn(i + 1, 1550)))
  }
  await engine.close()
  return compare({with_cache_ms: known, without_cache_ms: unknown})
}

/** Time of a load that quantises the weights, and of a load from the cache, ms. */
async function measureLoad(place: Place) {
  const [cached, first]: [number[], number[]] = [[], []]
  const load = async () => {
    const engine = await start(place)
    await engine.close()
    return engine.loadMs
  }
  for (let i = 0; i < Math.ceil(place.rounds / 2); i++) {
    await rm(join(process.env.XDG_CACHE_HOME as string, 'svc'), {recursive: true, force: true})
    first.push(await load())
    cached.push(await load())
  }
  return compare({cached_ms: cached, first_ms: first})
}

/** The longest pause of a stream while a prompt of 2,000 tokens is read, and the time to read it, ms. */
async function measureWait(place: Place) {
  const engine = await start(place)
  const length = 2000
  const [longest, steps, interrupted, alone]: number[][] = [[], [], [], []]
  await prefillSpeed(engine, length)
  for (let i = 0; i < Math.ceil(place.rounds / 2); i++) {
    alone?.push((length * 1000) / (await prefillSpeed(engine, length)))
    const waits = await streamWaits(engine, length)
    longest?.push(Math.max(...waits.gaps))
    steps?.push(median(waits.steps))
    interrupted?.push(waits.prefillMs)
  }
  await engine.close()
  return {
    pause: compare({longest_ms: longest ?? [], step_ms: steps ?? []}),
    prefill: compare({interrupted_ms: interrupted ?? [], alone_ms: alone ?? []}),
  }
}

/** Speeds with prompt lookup, in a copy of the model whose text does not depend on its weights. */
async function measureLookup({shape, peers, ...place}: Place) {
  const model = `${place.model}-chain`
  await writeModels(model, {...shape, tie_word_embeddings: false}, peers, {chain: true})
  const peer = peers.find(({name}) => name === 'llama.cpp')
  const file = fileOf(model, types[place.precision][0] as string)
  return compareLookup({...place, model, vocabSize: shape.vocab_size, peer: peer && {...peer, file}})
}

/** The medians of two lists, and the ratio of the first to the second. */
function compare(lists: Readonly<Record<string, readonly number[]>>) {
  const medians = Object.entries(lists).map(([name, values]) => [name, round(median(values))] as const)
  const [[, first], [, second]] = medians as [readonly [string, number], readonly [string, number]]
  return {...Object.fromEntries(medians), ratio: round(first / second, 2)}
}
