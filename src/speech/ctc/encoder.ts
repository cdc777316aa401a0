import {join} from 'node:path'
import {hopLength, logMel} from '../../audio/index.js'
import {SvcError} from '../../errors/index.js'
import {type Device, modelPath, openSession, tensor} from '../../onnx/index.js'
import {readShards, refusePointerFile} from '../../weights/index.js'
import {sampleRate} from '../model/model.js'
import type {CtcConfig, CtcFeatures, CtcLayer} from './config.js'
import {type Emissions, emissionsOf} from './emissions.js'
import {buildCtcGraph} from './encoder-graph.js'

/** Computes log-probabilities of tokens from samples. */
export interface CtcEncoder {
  /** Undefined if it is known only at run time. */
  vocabularySize: number | undefined
  /** @param samples mono, 16 kHz */
  encode(samples: Float32Array): Promise<Encoded>
  release(): Promise<void>
}

export interface Encoded {
  emissions: Emissions
  /** Duration of the emissions: the audio, and the silence around it. */
  coveredSec: number
  /** Silence before the sound. */
  padSec: number
  featuresMs: number
  encodeMs: number
}

interface SessionChoice {
  threads: number
  device: Device
}

/** Opens an encoder of described layers with the weights in the model directory. */
export async function openDescribedEncoder(
  folder: string,
  config: CtcConfig,
  layers: readonly CtcLayer[],
  {threads, device}: SessionChoice,
): Promise<CtcEncoder> {
  const {model, externalFolder, vocabularySize} = buildCtcGraph(config, layers, await readShards(folder))
  const session = await openSession(model, {externalFolder, threads, device, spins: false})
  return {
    vocabularySize,
    async encode(samples) {
      const started = performance.now()
      const {data, dims, ...cover} = featuresOf(samples, config.features)
      const ready = performance.now()
      const {logits} = await session.run({features: tensor(data, dims)}, {logits: null})
      const emissions = emissionsOf(logits.data as Float32Array, vocabularySize)
      return {emissions, ...cover, featuresMs: ready - started, encodeMs: performance.now() - ready}
    },
    release: () => session.release(),
  }
}

/**
 * Opens an encoder from an ONNX file: one input of samples or features, optionally `attention_mask`, and one output
 * `[1, positions, vocabulary]`.
 * @throws model_file_missing, model_file_invalid
 */
export async function openExportedEncoder(
  folder: string,
  name: string,
  features: CtcFeatures,
  {threads, device}: SessionChoice,
): Promise<CtcEncoder> {
  const file = join(folder, name)
  const path = await modelPath(file).catch(() => {
    throw new SvcError('model_file_missing', {file: name, tried: [file]})
  })
  const session = await openSession(path, {threads, device, spins: false}).catch(async (error: Error) => {
    await refusePointerFile(file)
    throw new SvcError('model_file_invalid', {file, reason: error.message.replace(/\.$/, '')}, {cause: error})
  })
  const input = session.inputs.find((one) => one.type === 'float32')
  const output = session.outputs.find(({name: key}) => key === 'logits') ?? session.outputs[0]
  if (input === undefined || output === undefined)
    throw new SvcError('model_file_invalid', {file, reason: 'it has no input of 32-bit floats'})
  const mask = session.inputs.find(({name: key}) => key === 'attention_mask')
  const waveform = features.type === 'waveform'
  return {
    vocabularySize: typeof output.dims.at(-1) === 'number' ? (output.dims.at(-1) as number) : undefined,
    async encode(samples) {
      const started = performance.now()
      const {data, dims, ...cover} = featuresOf(samples, features)
      const ready = performance.now()
      const feeds = {
        [input.name]: tensor(data, waveform ? [1, data.length] : dims),
        ...(mask === undefined ? {} : {[mask.name]: tensor(new BigInt64Array(data.length).fill(1n), [1, data.length])}),
      }
      const result = await session.run(feeds, {[output.name]: null})
      const logits = result[output.name]
      if (logits === undefined) throw new SvcError('model_file_invalid', {file, reason: 'it outputs no logits'})
      const emissions = emissionsOf(logits.data as Float32Array, logits.dims.at(-1) as number)
      return {emissions, ...cover, featuresMs: ready - started, encodeMs: performance.now() - ready}
    },
    release: () => session.release(),
  }
}

/** Minimum number of samples for the convolutions: 0.1 s. */
const minSamples = 1600

interface Features extends Pick<Encoded, 'coveredSec' | 'padSec'> {
  data: Float32Array
  dims: readonly number[]
}

function featuresOf(samples: Float32Array, features: CtcFeatures): Features {
  const padSec = features.type === 'log_mel' ? features.padSec : 0
  const sound = padded(samples, Math.round(padSec * sampleRate))
  const cover = {coveredSec: sound.length / sampleRate, padSec}
  if (features.type === 'waveform')
    return {data: features.normalize ? standardised(sound) : sound, dims: [1, 1, sound.length], ...cover}
  const frames = Math.ceil(sound.length / hopLength)
  return {data: logMel(sound, {bins: features.bins, frames}), dims: [1, features.bins, frames], ...cover}
}

/** Pads the samples with silence, to at least the minimum length. */
function padded(samples: Float32Array, silence: number): Float32Array {
  const length = Math.max(minSamples, samples.length + 2 * silence)
  if (length === samples.length) return samples
  const sound = new Float32Array(length)
  sound.set(samples, silence)
  return sound
}

/** Normalises to mean 0 and variance 1. */
function standardised(samples: Float32Array): Float32Array {
  const mean = samples.reduce((sum, x) => sum + x, 0) / samples.length
  const variance = samples.reduce((sum, x) => sum + (x - mean) ** 2, 0) / samples.length
  const scale = 1 / Math.sqrt(variance + 1e-7)
  return samples.map((x) => (x - mean) * scale)
}
