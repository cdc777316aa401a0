import {spawn} from 'node:child_process'
import {existsSync, readFileSync} from 'node:fs'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {median, round} from '../../src/bench/measure.js'
import {randomFloats} from '../support/random-floats.js'
import {svcBinary} from '../support/svc.js'
import {monoWave} from '../support/wave-file.js'
import {pinnedOutput} from './pinned.js'
import {type WhisperSize, writeWhisper} from './whisper-model.js'
import {clipSeconds, clipTokens, windowCount, windowTokens} from './whisper-work.js'

/** Stages with their times in ms. A step is the network alone; a token also includes its selection. */
const stages = [
  'encode_ms',
  'step_ms',
  'token_ms',
  'beam5_step_ms',
  'beam5_token_ms',
  'clip_ms',
  'ten_minutes_ms',
  'ten_minutes_batched_ms',
] as const
type Times = Record<(typeof stages)[number], number>

const precisions = ['f32', 'int8'] as const
const peerTypes = ['f16', 'q8_0', 'q5_1'] as const
type PeerType = (typeof peerTypes)[number]

type OwnTimes = Times & {log_mel_ms_per_second: number}
type PeerTimes = OwnTimes & {select_ms: number}

/** `failed` says why a program of whisper.cpp fails with a model. */
type PeerResult = {times: PeerTimes} | {times?: undefined; failed: string}

export interface Round {
  own: Record<(typeof precisions)[number], OwnTimes>
  peers: ReadonlyMap<PeerType, PeerResult>
}

/**
 * Recognition compared with whisper.cpp with floats of 16 bits, `q8_0` and `q5_1`, each pinned to one core: the stages,
 * and peak memory. `WHISPER_CPP` is the folder of `whisper-bench`, `whisper-cli` and `whisper-quantize`; without it there
 * are no ratios. `WHISPER_CPP_MODELS` is a folder of files `ggml-SIZE-TYPE.bin`, which replace those of `whisper-quantize`.
 * `WHISPER_SIZES` lists the shapes, and `WHISPER_ROUNDS` is the number of rounds.
 */
export async function whisper() {
  const programs = process.env.WHISPER_CPP
  const sizes = (process.env.WHISPER_SIZES ?? 'tiny,base').split(',') as WhisperSize[]
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    const clip = join(folder, 'clip.wav')
    await writeFile(clip, monoWave(randomFloats(1)(clipSeconds * 16_000).map((x) => 0.1 * x)))
    const results: Record<string, unknown> = {}
    for (const size of sizes) {
      const model = await writeWhisper(folder, size)
      const peers = programs === undefined ? [] : peerTypes.map((type) => peer(programs, model.ggml, size, type))
      const rounds = Array.from(
        {length: Number(process.env.WHISPER_ROUNDS ?? 3)},
        (): Round => ({
          own: {f32: measure(model.folder, 'f32', folder), int8: measure(model.folder, 'int8', folder)},
          peers: new Map(peers.map((one) => [one.type, measurePeer(one, clip)])),
        }),
      )
      results[size] = {...summary(rounds), peak_rss_mb: await memoryOf(model.folder, clip, folder, peers)}
    }
    return {threads: 1, clip_seconds: clipSeconds, clip_tokens: clipTokens, window_tokens: windowTokens, sizes: results}
  } finally {
    await rm(folder, {recursive: true})
  }
}

function measure(model: string, precision: string, cache: string) {
  const program = fileURLToPath(new URL('whisper-run.js', import.meta.url))
  return JSON.parse(pinnedOutput(process.execPath, [program, model, precision, cache]))
}

interface Peer {
  type: PeerType
  programs: string
  model: string
}

/** A model of whisper.cpp; a file of the user, or quantised from 16-bit floats. */
function peer(programs: string, halves: string, size: WhisperSize, type: PeerType): Peer {
  const {WHISPER_CPP_MODELS: folder} = process.env
  const stored = folder && join(folder, `ggml-${size}-${type}.bin`)
  if (stored && existsSync(stored)) return {type, programs, model: stored}
  if (type === 'f16') return {type, programs, model: halves}
  const model = halves.replace(/\.bin$/, `-${type}.bin`)
  pinnedOutput(join(programs, 'whisper-quantize'), [halves, model, type])
  return {type, programs, model}
}

/** Time that a program of whisper.cpp prints for a stage, ms, and its number of runs. */
function printedTime(text: string, stage: string): {total: number; perRun: number; runs: number} {
  const found = new RegExp(`${stage} time =\\s*([\\d.]+) ms(?: /\\s*(\\d+) runs)?`).exec(text)
  if (found === null) throw new Error(`whisper.cpp does not print its ${stage} time`)
  const [total, runs] = [Number(found[1]), Number(found[2] ?? 1)]
  return {total, perRun: total / runs, runs}
}

const cliArgs = (model: string, clip: string) =>
  ['-m', model, '-t', '1', '-f', clip, '-bs', '1', '-bo', '1', '-nf', '-l', 'en'] as const

/**
 * The times of a model of whisper.cpp. Its tokens and sums do not include the selection of the token, which is listed
 * separately. Its ten minutes do not include the log-mel spectrogram.
 */
function measurePeer({programs, model}: Peer, clip: string): PeerResult {
  try {
    const bench = pinnedOutput(join(programs, 'whisper-bench'), ['-m', model, '-t', '1'])
    const cli = pinnedOutput(join(programs, 'whisper-cli'), cliArgs(model, clip))
    const [encode, step] = [printedTime(bench, 'encode').perRun, printedTime(bench, 'decode').perRun]
    // A batch has five tokens, one per hypothesis.
    const beam5 = 5 * printedTime(bench, 'batchd').perRun
    const mel = printedTime(cli, 'mel').total
    const times = {
      encode_ms: encode,
      step_ms: step,
      token_ms: step,
      beam5_step_ms: beam5,
      beam5_token_ms: beam5,
      clip_ms: mel + encode + clipTokens * step,
      ten_minutes_ms: windowCount * (encode + windowTokens * step),
      ten_minutes_batched_ms: windowCount * (encode + windowTokens * step),
      // The printed runs of this stage leave out the best token.
      select_ms: printedTime(cli, 'sample').total / printedTime(cli, 'decode').runs,
      log_mel_ms_per_second: mel / clipSeconds,
    }
    return {times}
  } catch (error) {
    return {failed: (error as Error).message}
  }
}

/** Medians over the rounds. Ratios compare consecutive runs, so that changes in the speed of the machine cancel out. */
export function summary(rounds: readonly Round[]) {
  const types = [...(rounds[0]?.peers.keys() ?? [])]
  const timesOf = (type: PeerType) => rounds.flatMap(({peers}) => peers.get(type)?.times ?? [])
  const measured = types.filter((type) => timesOf(type).length === rounds.length)
  const ratios = (own: (typeof precisions)[number], compared: readonly PeerType[]) =>
    Object.fromEntries(
      stages.map((stage) => {
        const pairs = rounds.map(({own: {[own]: times}, peers}) => {
          const others = compared.map((type) => peers.get(type)?.times?.[stage] ?? Infinity)
          return times[stage] / Math.min(...others)
        })
        return [stage.replace('_ms', ''), round(median(pairs), 3)]
      }),
    )
  const compared = (own: (typeof precisions)[number]) => ({
    fastest: ratios(own, measured),
    ...(measured.includes('f16') ? {f16: ratios(own, ['f16'])} : {}),
  })
  return {
    svc: {f32: medians(rounds.map(({own}) => own.f32)), int8: medians(rounds.map(({own}) => own.int8))},
    whisper_cpp: Object.fromEntries(types.map((type) => [type, peerSummary(rounds, type)])),
    fastest: Object.fromEntries(
      stages.map((stage) => {
        const times = measured.map((type) => [type, median(timesOf(type).map((one) => one[stage]))] as const)
        return [stage.replace('_ms', ''), times.sort(([, a], [, b]) => a - b)[0]?.[0]]
      }),
    ),
    ...(measured.length === 0 ? {} : {ratio: {f32: compared('f32'), int8: compared('int8')}}),
  }
}

function peerSummary(rounds: readonly Round[], type: PeerType) {
  const results = rounds.flatMap(({peers}) => peers.get(type) ?? [])
  const failure = results.find((one) => one.times === undefined)
  return failure === undefined
    ? medians(results.flatMap(({times}) => times ?? []))
    : {...Object.fromEntries(stages.map((stage) => [stage, null])), ...failure}
}

const medians = <Key extends string>(times: readonly Record<Key, number>[]) =>
  Object.fromEntries(
    (Object.keys(times[0] ?? {}) as Key[]).map((key) => [key, round(median(times.map((one) => one[key])), 3)]),
  )

/** Peak memory, MB. `ratio_int8` and `ratio_f32` compare it with 16-bit floats. */
async function memoryOf(model: string, clip: string, cache: string, peers: readonly Peer[]) {
  const args = [
    'transcribe',
    clip,
    '--model',
    model,
    '--vad',
    'none',
    '--threads',
    '1',
    '--beam',
    '1',
    '--language',
    'en',
  ]
  const env = {SVC_SPEECH_CACHE_DIR: cache, SVC_SPEECH_TEMPERATURE: '1', SVC_SPEECH_BEST_OF: '1'}
  const run = (precision: string) => peakRss(process.execPath, [svcBinary, ...args, '--precision', precision], env)
  // Quantises before the measured run, which then only reads the result.
  await run('int8')
  const own = {f32: await run('f32'), int8: await run('int8')}
  const halves = peers.find(({type}) => type === 'f16')
  if (halves === undefined) return own
  const f16 = await peakRss(join(halves.programs, 'whisper-cli'), cliArgs(halves.model, clip))
  return {...own, f16, ratio_int8: round(own.int8 / f16, 2), ratio_f32: round(own.f32 / f16, 2)}
}

/** Peak resident memory of a process, MB; only on Linux. */
export async function peakRss(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<number> {
  const child = spawn(command, args, {stdio: 'ignore', env: {...process.env, ...env}})
  let peak = 0
  const watch = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0))
    } catch {
      // The process has ended.
    }
  }, 10)
  const code = await new Promise((resolve) => child.once('close', resolve))
  clearInterval(watch)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`)
  return round(peak / 1024)
}
