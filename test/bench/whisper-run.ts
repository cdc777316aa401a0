/**
 * Measures a Whisper model in a separate process, which can be pinned to a core and whose memory can be measured:
 * `MODEL PRECISION CACHE`. Prints one JSON value.
 */
import {logMel} from '../../src/audio/index.js'
import {median, round} from '../../src/bench/measure.js'
import {readWhisperConfig} from '../../src/speech/whisper/config.js'
import {openGraphNetwork} from '../../src/speech/whisper/graph-network.js'
import {withQuantized} from '../../src/speech/whisper/quantized-tensors.js'
import {readJsonObject, readShards} from '../../src/weights/index.js'
import {randomFloats} from '../support/random-floats.js'

const [folder = '', precision = 'f32', cache = ''] = process.argv.slice(2)
const config = readWhisperConfig(await readJsonObject(`${folder}/config.json`), 'config.json')
const tensors = await readShards(folder)
const quantised = () => withQuantized(tensors, {folder: cache, model: folder, threads: 1})
const network = await openGraphNetwork(config, precision === 'int8' ? await quantised() : tensors, {
  threads: 1,
  device: 'cpu',
  alignmentHeads: [[config.decoder.layers - 1, 0]],
  textTokens: 50_257,
})

/** Start of transcript, English, transcribe, no timestamps. */
const prompt = [50_258, 50_259, 50_359, 50_363]
const clip = randomFloats(1)(11 * 16_000).map((x) => 0.1 * x)
/** Tokens of the clip: 11 seconds of very fast speech. */
const clipTokens = 219

const time = async (work: () => unknown) => {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const features = () => logMel(clip, {bins: 80, frames: 3000})
let context = await network.encode(features(), 3000)
const encode: number[] = []
for (let i = 0; i < 3; i++) {
  const mel = features()
  encode.push(
    await time(async () => {
      context = await network.encode(mel, 3000)
    }),
  )
}

/** Per step, with a growing cache. */
async function steps(rows: number, count: number): Promise<number> {
  const run = context.decode({allLogits: false, suppressed: []})
  await run.prefill(prompt, [3])
  if (rows > 1) run.select(Array(rows).fill(0))
  const total = await time(async () => {
    for (let i = 0; i < count; i++) {
      await run.step(Array.from({length: rows}, (_, row) => 1000 + i + row))
      if (rows > 1) run.select([1, 0, 2, 2, 4])
    }
  })
  return total / count
}

await steps(1, 16)
const token = [await steps(1, 256), await steps(1, 256)]
const beam = [await steps(5, 64), await steps(5, 64)]
const mel: number[] = []
for (let i = 0; i < 9; i++) mel.push(await time(features))
const whole = await time(async () => {
  context = await network.encode(features(), 3000)
  await steps(1, clipTokens)
})
await network.release()

process.stdout.write(
  `${JSON.stringify({
    encode_ms: round(median(encode)),
    token_ms: round(median(token), 2),
    beam5_step_ms: round(median(beam), 2),
    clip_ms: round(whole),
    log_mel_ms_per_second: round(median(mel) / 11, 2),
  })}\n`,
)
