import {access, constants, stat} from 'node:fs/promises'
import {delimiter, dirname, join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {formatTable} from './table.js'

/** What a check found. `off` is what is not there or not set up, and is needed only by those who use it. */
export interface Finding {
  state: 'ok' | 'off' | 'failed'
  value: string
  /** A command of svc, or a sentence, that fixes it or sets it up. */
  fix?: string
}

export type Check = () => Finding | Promise<Finding>

const ok = (value: string): Finding => ({state: 'ok', value})

/** The finding of a check; one that throws failed. */
export async function runCheck(check: Check): Promise<Finding> {
  try {
    return await check()
  } catch (error) {
    const {message, hint} = SvcError.from(error)
    return {state: 'failed', value: message.split('\n')[0] ?? message, fix: hint}
  }
}

/** What to do about a finding, as a sentence. */
export const adviceOf = (fix: string): string => (fix.startsWith('svc ') ? `Run ${fix}.` : fix)

/** Findings as a table, with what to do below those that have it. @param width of the terminal, where there is one */
export function formatFindings(findings: readonly (Finding & {name: string})[], width?: number): string {
  const rows = findings.flatMap(({name, state, value, fix}) => [
    [name, state, value],
    ...(fix === undefined ? [] : [['', '', adviceOf(fix)]]),
  ])
  return formatTable(['CHECK', 'STATE', 'FOUND'], rows, width)
}

/** Whether the runtime loads and computes on the device: one plus one. */
export async function checkEngine(device: 'cpu' | 'cuda'): Promise<Finding> {
  const {GraphBuilder, openSession, requireDevice, tensor} = await import('../onnx/index.js')
  await requireDevice(device)
  const graph = new GraphBuilder('doctor')
  const x = graph.input('x', 'float32', [1])
  graph.output('y', graph.node('Add', [x, x]), 'float32', [1])
  const session = await openSession(graph.build(), {threads: 1, device})
  try {
    const {y} = await session.run({x: tensor(Float32Array.of(1), [1])}, {y: null})
    if (y.data[0] === 2) return ok(`ONNX Runtime computes on ${device}`)
    return {state: 'failed', value: `ONNX Runtime computes 1 + 1 = ${y.data[0]}`, fix: 'Install svc again.'}
  } finally {
    await session.release()
  }
}

/** Formats that are decoded without another program, with the package of each. */
const decoders = {
  flac: '@wasm-audio-decoders/flac',
  mp3: 'mpg123-decoder',
  'ogg opus': 'opus-decoder',
  'ogg vorbis': '@wasm-audio-decoders/ogg-vorbis',
}

export async function checkDecoders(): Promise<Finding> {
  const missing: string[] = []
  for (const name of Object.values(decoders)) await import(name).catch(() => missing.push(name))
  if (missing.length === 0) return ok(['wav', ...Object.keys(decoders)].join(', '))
  return {state: 'failed', value: `${missing.join(', ')} cannot be loaded.`, fix: 'Install svc again.'}
}

/** Recordings of other formats go through ffmpeg; without it they are refused. */
export async function checkFfmpeg(): Promise<Finding> {
  const name = process.platform === 'win32' ? 'ffmpeg.exe' : 'ffmpeg'
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name)
    if (await may(path, constants.X_OK)) return ok(path)
  }
  return {
    state: 'off',
    value: 'ffmpeg is not on the PATH: only WAV, FLAC, MP3 and Ogg can be read.',
    fix: 'Install ffmpeg.',
  }
}

/** Whether models can be written to the cache, or to the nearest folder above it that is there. */
export async function checkCache(cache: string): Promise<Finding> {
  if (await mayCreate(cache)) return ok(cache)
  const fix = 'Set SVC_SPEECH_CACHE_DIR to a folder that can be written.'
  return {state: 'failed', value: `${cache} cannot be written.`, fix}
}

/** Whether a folder is there and can be written, or can be made in the nearest folder above it. */
export async function mayCreate(path: string): Promise<boolean> {
  let folder = path
  while (!(await may(folder, constants.F_OK)) && folder !== dirname(folder)) folder = dirname(folder)
  return (await stat(folder)).isDirectory() && (await may(folder, constants.W_OK))
}

const may = (path: string, mode: number) =>
  access(path, mode).then(
    () => true,
    () => false,
  )
