/**
 * Loads a GGUF file, predicts one token with one thread, and prints the figures of this process as JSON:
 *
 *     node gguf-load-once.js FILE [FOLDER]
 *
 * With the folder of an installation of node-llama-cpp, llama.cpp loads the file.
 */
import {readFileSync} from 'node:fs'
import {createRequire} from 'node:module'
import {join, resolve} from 'node:path'
import {pathToFileURL} from 'node:url'

export interface LoadFigures {
  /** Processor time of all threads, ms. */
  cpu_ms: number
  wall_ms: number
  /** Largest resident memory, MB. */
  peak_mb: number
}

const [file = '', peer] = process.argv.slice(2)
const contextSize = 1024
const [started, before] = [performance.now(), process.cpuUsage()]
if (peer === undefined) {
  const {startEngine} = await import('../../src/llm/index.js')
  const {complete} = await import('../../src/bench/llm.js')
  const {defaultSampling} = await import('../../src/sampling/index.js')
  const engine = await startEngine(file, {threads: 1, precision: 'w4', numCtx: contextSize})
  await complete(engine, {prompt: {kind: 'tokens', tokens: [10]}, maxTokens: 1, stop: [], sampling: defaultSampling})
  report()
  await engine.close()
} else {
  const require = createRequire(join(resolve(peer), 'package.json'))
  const {getLlama} = await import(pathToFileURL(require.resolve('node-llama-cpp')).href)
  const llama = await getLlama({gpu: false, build: 'never', logLevel: 'error'})
  const model = await llama.loadModel({modelPath: file})
  const context = await model.createContext({contextSize, threads: 1, batchSize: 512})
  await context.getSequence().evaluateWithoutGeneratingNewTokens([10])
  report()
  await llama.dispose()
}

function report(): void {
  const {user, system} = process.cpuUsage(before)
  const [, peak = ''] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  const figures: LoadFigures = {
    cpu_ms: (user + system) / 1000,
    wall_ms: performance.now() - started,
    peak_mb: (Number(peak) * 1024) / 1e6,
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}
