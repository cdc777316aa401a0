import {access, constants, stat} from 'node:fs/promises'
import {delimiter, dirname, join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {formatTable, wrapped} from './table.js'

/** The result of a check. `off`: an optional part that is not installed, not started or not configured. */
export interface CheckFinding {
  state: 'ok' | 'off' | 'failed'
  value: string
  /** A command or an instruction (a sentence) that fixes the problem. */
  fix?: string
}

export type Check = () => CheckFinding | Promise<CheckFinding>

const ok = (value: string): CheckFinding => ({state: 'ok', value})

/** Runs a check. A check that throws has failed. */
export async function runCheck(check: Check): Promise<CheckFinding> {
  try {
    return await check()
  } catch (error) {
    const {message, hint} = SvcError.from(error)
    return {state: 'failed', value: message.split('\n')[0] ?? message, fix: hint}
  }
}

export const adviceOf = (fix: string): string => (/^(svc|chmod) /.test(fix) ? `Run \`${fix}\`.` : fix)

/** Findings as a table, each fix below its finding. @param width terminal width in characters; undefined: unlimited */
export function formatFindings(findings: readonly (CheckFinding & {name: string})[], width?: number): string {
  const rows = findings.flatMap(({name, state, value, fix}) => [
    [name, state, value],
    ...(fix === undefined ? [] : [['', '', adviceOf(fix)]]),
  ])
  return formatTable(['CHECK', 'STATE', wrapped('FOUND')], rows, {width})
}

/** Checks that ONNX Runtime loads and computes 1 + 1 on the device. */
export async function checkEngine(device: 'cpu' | 'cuda'): Promise<CheckFinding> {
  const {GraphBuilder, openSession, requireDevice, tensor} = await import('../onnx/index.js')
  await requireDevice(device)
  const graph = new GraphBuilder('doctor')
  const x = graph.input('x', 'float32', [1])
  graph.output('y', graph.node('Add', [x, x]), 'float32', [1])
  const session = await openSession(graph.build(), {threads: 1, device})
  try {
    const {y} = await session.run({x: tensor(Float32Array.of(1), [1])}, {y: null})
    if (y.data[0] === 2) return ok(`ONNX Runtime on ${device}`)
    return {state: 'failed', value: `ONNX Runtime computes 1 + 1 = ${y.data[0]}.`, fix: 'Reinstall svc.'}
  } finally {
    await session.release()
  }
}

/** Formats that are decoded without ffmpeg, and the package that decodes each. */
const decoders = {
  flac: '@wasm-audio-decoders/flac',
  mp3: 'mpg123-decoder',
  'ogg opus': 'opus-decoder',
  'ogg vorbis': '@wasm-audio-decoders/ogg-vorbis',
}

export async function checkDecoders(): Promise<CheckFinding> {
  const missing: string[] = []
  for (const name of Object.values(decoders)) await import(name).catch(() => missing.push(name))
  if (missing.length === 0) return ok(['wav', ...Object.keys(decoders)].join(', '))
  return {state: 'failed', value: `Cannot load ${missing.join(', ')}.`, fix: 'Reinstall svc.'}
}

/** Checks for ffmpeg, which decodes all other formats. */
export async function checkFfmpeg(): Promise<CheckFinding> {
  const name = process.platform === 'win32' ? 'ffmpeg.exe' : 'ffmpeg'
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name)
    if (await may(path, constants.X_OK)) return ok(path)
  }
  return {
    state: 'off',
    value: 'ffmpeg is not on the PATH; only WAV, FLAC, MP3 and Ogg can be read.',
    fix: 'Install ffmpeg.',
  }
}

/** Checks that the model cache is writable or can be created. */
export async function checkCache(cache: string): Promise<CheckFinding> {
  if (await mayCreate(cache)) return ok(cache)
  const fix = 'Set SVC_SPEECH_CACHE_DIR to a writable directory.'
  return {state: 'failed', value: `${cache} is not writable.`, fix}
}

/** True if the folder, or its nearest existing ancestor, is a writable directory. */
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
