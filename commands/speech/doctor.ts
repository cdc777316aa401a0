import {access, constants, stat} from 'node:fs/promises'
import {delimiter, dirname, join, resolve} from 'node:path'
import {formatTable, SpeechCommand} from '../../src/cli/index.js'
import {
  defaultSpeechModel,
  hubSettings,
  ideSettings,
  speechRefineSettings,
  speechRuntime,
  speechRuntimeFaults,
  speechSessionSettings,
  speechSettings,
  speechSummary,
} from '../../src/config/index.js'
import type {SpeechDoctorV1} from '../../src/contracts/index.js'
import {Exit, SvcError} from '../../src/errors/index.js'

interface Finding {
  ok: boolean
  value: string
}

export default class SpeechDoctor extends SpeechCommand<typeof SpeechDoctor> {
  static override summary = 'Check that speech can be recognised on this machine.'
  static override description =
    `Runs a small graph, looks for the model, the decoders of recordings and a cache to write to, and checks the settings.
Uses no network. Fails with status 1 when a check does; its value says what to do.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    `<%= config.bin %> <%= command.id %> --json | jq '.checks[] | select(.ok | not)'`,
  ]

  async run(): Promise<void> {
    const values = {
      ...this.settings(speechSettings),
      ...this.settings(speechRefineSettings),
      ...this.settings(speechSessionSettings),
      ...this.settings(hubSettings),
    }
    const checks: Record<string, () => Finding | Promise<Finding>> = {
      status_summary: () => ({ok: true, value: speechSummary(values)}),
      engine: () => checkEngine(values.device),
      model: () => this.#checkModel(),
      runtime_config: () => checkRuntime(speechRuntimeFaults(speechRuntime(values))),
      decoders: checkDecoders,
      ffmpeg: checkFfmpeg,
      cache: async () => checkCache(resolve(await this.cacheFolder())),
      ide_context: () => describeEditor(this.settings(ideSettings)),
    }
    const result: SpeechDoctorV1 = {checks: [], result: 'ok'}
    for (const [name, check] of Object.entries(checks)) result.checks.push({name, ...(await finding(check))})
    if (result.checks.some(({ok}) => !ok)) result.result = 'failed'
    await this.output.result(result, asText)
    if (result.result === 'failed') this.exit(Exit.failed)
  }

  async #checkModel(): Promise<Finding> {
    const found = await this.findModel()
    const advice = found?.isFallback === true ? '; for real-world speech run svc speech pull tiny.en.' : ''
    if (found !== undefined) return {ok: true, value: `${found.name} in ${found.path}${advice}`}
    const model = this.settings(speechSettings).model ?? defaultSpeechModel
    return {ok: false, value: `${model} is not on this machine; run svc speech pull ${model}.`}
  }
}

const asText = ({checks, result}: SpeechDoctorV1) =>
  `${formatTable(
    ['CHECK', 'RESULT', 'FOUND'],
    checks.map(({name, ok, value}) => [name, ok ? 'ok' : 'failed', value]),
  )}${result}\n`

/** What a check found; one that throws failed. */
async function finding(check: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await check()
  } catch (error) {
    const {message, hint} = SvcError.from(error)
    return {ok: false, value: `${message.split('\n')[0]} ${hint}`}
  }
}

/** Whether the runtime loads and computes on the device: one plus one. */
async function checkEngine(device: 'cpu' | 'cuda'): Promise<Finding> {
  const {GraphBuilder, openSession, requireDevice, tensor} = await import('../../src/onnx/index.js')
  await requireDevice(device)
  const graph = new GraphBuilder('doctor')
  const x = graph.input('x', 'float32', [1])
  graph.output('y', graph.node('Add', [x, x]), 'float32', [1])
  const session = await openSession(graph.build(), {threads: 1, device})
  try {
    const {y} = await session.run({x: tensor(Float32Array.of(1), [1])}, {y: null})
    const ok = y.data[0] === 2
    return {ok, value: ok ? `ONNX Runtime computes on ${device}` : `ONNX Runtime computes 1 + 1 = ${y.data[0]}`}
  } finally {
    await session.release()
  }
}

const checkRuntime = (faults: readonly string[]): Finding => ({
  ok: faults.length === 0,
  value: faults.length === 0 ? 'the settings agree' : faults.join(' '),
})

/** Formats that are decoded without another program, with the package of each. */
const decoders = {
  flac: '@wasm-audio-decoders/flac',
  mp3: 'mpg123-decoder',
  'ogg opus': 'opus-decoder',
  'ogg vorbis': '@wasm-audio-decoders/ogg-vorbis',
}

async function checkDecoders(): Promise<Finding> {
  const missing: string[] = []
  for (const name of Object.values(decoders)) await import(name).catch(() => missing.push(name))
  if (missing.length === 0) return {ok: true, value: ['wav', ...Object.keys(decoders)].join(', ')}
  return {ok: false, value: `${missing.join(', ')} cannot be loaded; install svc again.`}
}

/** Recordings of other formats go through ffmpeg; without it they are refused, and that is no fault. */
async function checkFfmpeg(): Promise<Finding> {
  const name = process.platform === 'win32' ? 'ffmpeg.exe' : 'ffmpeg'
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name)
    if (await may(path, constants.X_OK)) return {ok: true, value: path}
  }
  return {ok: true, value: 'not found'}
}

/** Whether models can be written to the cache, or to the nearest folder above it that is there. */
async function checkCache(cache: string): Promise<Finding> {
  let folder = cache
  while (!(await may(folder, constants.F_OK)) && folder !== dirname(folder)) folder = dirname(folder)
  const ok = (await stat(folder)).isDirectory() && (await may(folder, constants.W_OK))
  return {ok, value: ok ? cache : `${cache} cannot be written; set SVC_SPEECH_CACHE_DIR to a folder that can.`}
}

const may = (path: string, mode: number) =>
  access(path, mode).then(
    () => true,
    () => false,
  )

interface Editor {
  activeFile: string | undefined
  activeLine: number | undefined
  activeSymbol: string | undefined
}

/** What spoken commands refer to; nothing open is no fault. */
function describeEditor({activeFile, activeLine, activeSymbol}: Editor): Finding {
  if (activeFile === undefined) return {ok: true, value: 'no file is open in the editor'}
  const line = activeLine === undefined ? '' : `:${activeLine}`
  return {ok: true, value: `${activeFile}${line}${activeSymbol === undefined ? '' : ` in ${activeSymbol}`}`}
}
