/**
 * Measures a Whisper model in a separate process, which can be pinned to a core and whose memory can be measured:
 * `MODEL PRECISION CACHE`. Prints one JSON value.
 */
import {logMel} from '../../src/audio/index.js'
import {median, round} from '../../src/bench/measure.js'
import {defaultTranscribeOptions} from '../../src/speech/index.js'
import {decodeTogether, decodeWindow} from '../../src/speech/whisper/decode-window.js'
import {openGraphNetwork} from '../../src/speech/whisper/graph-network.js'
import type {AudioContext} from '../../src/speech/whisper/network.js'
import {readWhisperFolder} from '../../src/speech/whisper/open-whisper.js'
import {buildPrompt} from '../../src/speech/whisper/prompt.js'
import {withQuantized} from '../../src/speech/whisper/quantized-tensors.js'
import {readShards} from '../../src/weights/index.js'
import {randomFloats} from '../support/random-floats.js'
import {clipSeconds, clipTokens, windowCount, windowTokens} from './whisper-work.js'

const [folder = '', precision = 'f32', cache = ''] = process.argv.slice(2)
const {config, vocabulary} = await readWhisperFolder(folder)
const tensors = await readShards(folder)
const quantised = () => withQuantized(tensors, {folder: cache, model: folder, threads: 1})
const network = await openGraphNetwork(config, precision === 'int8' ? await quantised() : tensors, {
  threads: 1,
  device: 'cpu',
  alignmentHeads: [[config.decoder.layers - 1, 0]],
  textTokens: vocabulary.endOfText,
})

const limits = {timestamps: true, context: config.textPositions}
const prompt = buildPrompt(vocabulary, {language: 'en', task: 'transcribe'}, {hotwords: []}, limits)
/** A vocabulary in which the text never ends, so that the number of tokens is fixed. */
const endless = {...vocabulary, suppressed: [...vocabulary.suppressed, vocabulary.endOfText]}
const window = randomFloats(1)(30 * 16_000).map((x) => 0.1 * x)
const clip = window.subarray(0, clipSeconds * 16_000)
const frames = 3000

const time = async (work: () => unknown) => {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const features = (samples: Float32Array) => logMel(samples, {bins: config.melBins, frames})
const encode = (mel: Float32Array) => network.encode(mel, frames)

/** Time of a step of the network alone, with a growing cache, ms. */
async function step(rows: number, count: number): Promise<number> {
  const run = context.decode({allLogits: false, suppressed: []})
  await run.prefill(prompt.tokens, [prompt.tokens.length - 1])
  if (rows > 1) run.select(Array(rows).fill(0))
  const total = await time(async () => {
    for (let i = 0; i < count; i++) {
      await run.step(Array.from({length: rows}, (_, row) => 1000 + i + row))
      if (rows > 1) run.select([1, 0, 2, 2, 4])
    }
  })
  return total / count
}

/** Decodes with the token rules, including those of timestamps. */
async function decode(audio: AudioContext, beamSize: number, maxTokens: number): Promise<void> {
  const options = {...defaultTranscribeOptions, beamSize, temperatures: [0]}
  const {tokens} = await decodeWindow(audio, endless, prompt, options, {...limits, maxTokens})
  if (tokens.length !== maxTokens) throw new Error(`The text has ${tokens.length} tokens instead of ${maxTokens}.`)
}

/** Time of a token of a decoding, including its share of the prompt and the selection of the token, ms. */
const token = async (beamSize: number, count: number) => (await time(() => decode(context, beamSize, count))) / count

/** Decodes windows greedily in the same runs. */
async function decodeAll(windows: readonly AudioContext[], maxTokens: number): Promise<void> {
  const audio = network.together?.(windows)
  if (audio === undefined) throw new Error('The network decodes one window at a time.')
  const options = {...defaultTranscribeOptions, temperatures: [0]}
  await decodeTogether(audio, endless, prompt, options, {...limits, maxTokens})
}

/** Transcribes the windows of ten minutes, `batch` at a time. */
async function transcribeTenMinutes(batch: number): Promise<void> {
  for (let first = 0; first < windowCount; first += batch) {
    const audio: AudioContext[] = []
    for (let i = first; i < Math.min(first + batch, windowCount); i++) audio.push(await encode(features(window)))
    if (batch === 1) for (const one of audio) await decode(one, 1, windowTokens)
    else await decodeAll(audio, windowTokens)
  }
}

async function repeated(count: number, measure: () => Promise<number>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < count; i++) times.push(await measure())
  return median(times)
}

let context = await encode(features(clip))
await token(1, 16)
const times = {
  encode_ms: await repeated(3, async () => {
    const mel = features(clip)
    return time(async () => {
      context = await encode(mel)
    })
  }),
  step_ms: await repeated(3, () => step(1, 256)),
  token_ms: await repeated(3, () => token(1, clipTokens)),
  beam5_step_ms: await repeated(3, () => step(5, 64)),
  beam5_token_ms: await repeated(3, () => token(5, 64)),
  clip_ms: await time(async () => decode(await encode(features(clip)), 1, clipTokens)),
  ten_minutes_ms: await time(() => transcribeTenMinutes(1)),
  ten_minutes_batched_ms: await time(() => transcribeTenMinutes(Number(process.env.WHISPER_BATCH ?? 8))),
  log_mel_ms_per_second: (await repeated(9, () => time(() => features(clip)))) / clipSeconds,
}
await network.release()
const rounded = Object.entries(times).map(([name, value]) => [name, round(value, 3)])
process.stdout.write(`${JSON.stringify(Object.fromEntries(rounded))}\n`)
