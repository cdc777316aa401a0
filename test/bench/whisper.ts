import {spawn} from 'node:child_process'
import {readFileSync} from 'node:fs'
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

/** Tokens of the clip; the same number in `whisper-run.ts`. */
const clipTokens = 219

interface Times {
  encode_ms: number
  token_ms: number
  beam5_step_ms: number
  clip_ms: number
  log_mel_ms_per_second?: number
}

/**
 * Recognition compared with whisper.cpp with 16-bit floats, each pinned to one core: encoding of a window, a token of
 * greedy decoding, a step with a beam of five, a clip of 11 seconds with 219 tokens, and peak memory. `WHISPER_CPP` is
 * the folder of `whisper-bench` and `whisper-cli`; without it there are no ratios. `WHISPER_SIZES` lists the shapes,
 * and `WHISPER_ROUNDS` is the number of rounds.
 */
export async function whisper() {
  const peer = process.env.WHISPER_CPP
  const sizes = (process.env.WHISPER_SIZES ?? 'tiny,base').split(',') as WhisperSize[]
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    const clip = join(folder, 'clip.wav')
    await writeFile(clip, monoWave(randomFloats(1)(11 * 16_000).map((x) => 0.1 * x)))
    const results: Record<string, unknown> = {}
    for (const size of sizes) {
      const model = await writeWhisper(folder, size)
      const rounds = Array.from({length: Number(process.env.WHISPER_ROUNDS ?? 3)}, () => ({
        f32: measure(model.folder, 'f32', folder),
        int8: measure(model.folder, 'int8', folder),
        ...(peer === undefined ? {} : {whisper_cpp: measurePeer(peer, model.ggml, clip)}),
      }))
      results[size] = {...summary(rounds), peak_rss_mb: await memoryOf(model, clip, folder, peer)}
    }
    return {threads: 1, clip_seconds: 11, clip_tokens: clipTokens, sizes: results}
  } finally {
    await rm(folder, {recursive: true})
  }
}

function measure(model: string, precision: string, cache: string): Times {
  const program = fileURLToPath(new URL('whisper-run.js', import.meta.url))
  return JSON.parse(pinnedOutput(process.execPath, [program, model, precision, cache])) as Times
}

/** Time per run that a program of whisper.cpp prints for a stage, ms. */
function perRun(text: string, stage: string): number {
  const found = new RegExp(`${stage} time =.*\\(\\s*([\\d.]+) ms per run\\)`).exec(text)
  if (found?.[1] === undefined) throw new Error(`whisper.cpp says nothing of its ${stage} time`)
  return Number(found[1])
}

function measurePeer(folder: string, model: string, clip: string): Times {
  const bench = pinnedOutput(join(folder, 'whisper-bench'), ['-m', model, '-t', '1'])
  const [encode, token] = [perRun(bench, 'encode'), perRun(bench, 'decode')]
  // A batch has five tokens, one per hypothesis.
  const beam = 5 * perRun(bench, 'batchd')
  const cli = pinnedOutput(join(folder, 'whisper-cli'), [
    '-m',
    model,
    '-t',
    '1',
    '-f',
    clip,
    '-bs',
    '1',
    '-bo',
    '1',
    '-nf',
    '-l',
    'en',
  ])
  const mel = Number(/mel time =\s*([\d.]+) ms/.exec(cli)?.[1])
  return {
    encode_ms: round(encode),
    token_ms: round(token, 2),
    beam5_step_ms: round(beam, 2),
    clip_ms: round(mel + encode + clipTokens * token),
  }
}

type Round = {f32: Times; int8: Times; whisper_cpp?: Times}

const stages = ['encode_ms', 'token_ms', 'beam5_step_ms', 'clip_ms'] as const

/** Medians over the rounds. Ratios compare consecutive runs, so that changes in the speed of the machine cancel out. */
function summary(rounds: readonly Round[]) {
  const sides = ['f32', 'int8', 'whisper_cpp'] as const
  const medians = (side: (typeof sides)[number]) => {
    const times = rounds.flatMap((one) => one[side] ?? [])
    return times.length === 0
      ? undefined
      : Object.fromEntries(stages.map((stage) => [stage, round(median(times.map((one) => one[stage])), 2)]))
  }
  const ratio = (side: 'f32' | 'int8', stage: (typeof stages)[number]) => {
    const pairs = rounds.flatMap((one) =>
      one.whisper_cpp === undefined ? [] : one[side][stage] / one.whisper_cpp[stage],
    )
    return pairs.length === 0 ? undefined : round(median(pairs), 2)
  }
  const mel = rounds.flatMap(({f32, int8}) => [f32.log_mel_ms_per_second ?? 0, int8.log_mel_ms_per_second ?? 0])
  return {
    ...Object.fromEntries(sides.map((side) => [side, medians(side)])),
    ratio: {
      f32: Object.fromEntries(stages.map((stage) => [stage.replace('_ms', ''), ratio('f32', stage)])),
      int8: Object.fromEntries(stages.map((stage) => [stage.replace('_ms', ''), ratio('int8', stage)])),
    },
    log_mel_ms_per_second: round(median(mel), 2),
  }
}

async function memoryOf(model: {folder: string; ggml: string}, clip: string, cache: string, peer: string | undefined) {
  const args = [
    'transcribe',
    clip,
    '--model',
    model.folder,
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
  if (peer === undefined) return own
  const other = await peakRss(join(peer, 'whisper-cli'), [
    '-m',
    model.ggml,
    '-t',
    '1',
    '-f',
    clip,
    '-bs',
    '1',
    '-bo',
    '1',
    '-nf',
  ])
  return {...own, whisper_cpp: other, ratio_int8: round(own.int8 / other, 2), ratio_f32: round(own.f32 / other, 2)}
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
