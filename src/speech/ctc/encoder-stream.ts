import {LogMelStream} from '../../audio/index.js'
import {type Device, type OnnxSession, openSession, type Tensor, tensor} from '../../onnx/index.js'
import {readShards} from '../../weights/index.js'
import {sampleRate} from '../model/model.js'
import type {CtcConfig, CtcLayer} from './config.js'
import {type Emissions, emissionsOf} from './emissions.js'
import {buildStreamingCtcGraph, type CarriedShape, streamingOf} from './encoder-graph.js'

/** An encoder for audio that arrives in pieces. Every sample is encoded once. */
export interface CtcEncoderStream {
  /** Adds samples, mono at 16 kHz; returns the emissions that are complete, which lag behind by the look-ahead. */
  push(samples: Float32Array): Promise<Emissions | undefined>
  /** Emissions of the look-ahead, as if silence followed. The next `push` replaces them. */
  tail(): Promise<Emissions | undefined>
}

export interface StreamingEncoder {
  start(): Promise<CtcEncoderStream>
  release(): Promise<void>
}

/** The streaming graph of a described encoder, opened at first use; undefined if a layer needs the complete audio. */
export function streamingEncoder(
  folder: string,
  config: CtcConfig,
  layers: readonly CtcLayer[],
  {threads, device}: {threads: number; device: Device},
): StreamingEncoder | undefined {
  const {features} = config
  const streaming = streamingOf(layers)
  if (streaming === undefined || features.type !== 'log_mel') return undefined
  const {bins, padSec} = features
  const open = async () => {
    const {model, externalFolder, ...graph} = buildStreamingCtcGraph(config, layers, await readShards(folder))
    return {...graph, session: await openSession(model, {externalFolder, threads, device, memoryPattern: false})}
  }
  let opened: ReturnType<typeof open> | undefined
  return {
    async start() {
      opened ??= open()
      return new EncoderStream({...(await opened), bins, padSec, ...streaming})
    },
    release: async () => (await opened)?.session.release(),
  }
}

interface Parts {
  session: OnnxSession
  vocabularySize: number
  states: readonly CarriedShape[]
  bins: number
  padSec: number
  lookAheadFrames: number
  stride: number
}

class EncoderStream implements CtcEncoderStream {
  readonly #parts: Parts
  readonly #mel: LogMelStream
  /** Levels of the frames that wait for the next run, `[bins, frames]` each. */
  #waiting: {data: Float32Array; frames: number}[] = []
  /** Undefined before the first run. */
  #states: Readonly<Record<string, Tensor>> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#mel = new LogMelStream(parts.bins)
    this.#waiting.push(this.#mel.push(new Float32Array(Math.round(parts.padSec * sampleRate))))
  }

  async push(samples: Float32Array): Promise<Emissions | undefined> {
    const {bins, lookAheadFrames, stride} = this.#parts
    this.#waiting.push(this.#mel.push(samples))
    const total = this.#waiting.reduce((sum, {frames}) => sum + frames, 0)
    const frames = total - (total % stride)
    // The first run has to reach the last layer.
    if (frames < (this.#states === undefined ? lookAheadFrames + stride : stride)) return undefined
    const all = joined(this.#waiting, bins, total)
    this.#waiting = [{data: columns(all, bins, total, frames, total), frames: total - frames}]
    const {emissions, next} = await this.#run(columns(all, bins, total, 0, frames), frames)
    this.#states = next
    return emissions
  }

  async tail(): Promise<Emissions | undefined> {
    const {bins, lookAheadFrames, stride} = this.#parts
    if (this.#states === undefined) return undefined
    const waiting = this.#waiting.reduce((sum, one) => sum + one.frames, 0)
    const frames = Math.ceil((waiting + lookAheadFrames) / stride) * stride
    const silence = this.#mel.silence(frames - waiting)
    return (await this.#run(joined([...this.#waiting, silence], bins, frames), frames)).emissions
  }

  async #run(levels: Float32Array, frames: number) {
    const {session, states, bins, vocabularySize} = this.#parts
    const fetches = Object.fromEntries([['logits', null], ...states.map((_, i) => [`next.${i}`, null])])
    const feeds = {features: tensor(this.#mel.features(levels), [1, bins, frames]), ...(this.#states ?? zeros(states))}
    const result = await session.run(feeds, fetches as Record<string, null>)
    const next = states.map((_, i) => [`state.${i}`, result[`next.${i}`] as Tensor] as const)
    const logits = (result.logits as Tensor).data as Float32Array
    return {emissions: emissionsOf(logits, vocabularySize), next: Object.fromEntries(next)}
  }
}

const zeros = (states: readonly CarriedShape[]): Record<string, Tensor> =>
  Object.fromEntries(
    states.map(({channels, frames}, i) => [
      `state.${i}`,
      tensor(new Float32Array(channels * frames), [1, channels, frames]),
    ]),
  )

/** Pieces of `[bins, frames]` next to each other. */
function joined(pieces: readonly {data: Float32Array; frames: number}[], bins: number, total: number): Float32Array {
  const all = new Float32Array(bins * total)
  let at = 0
  for (const {data, frames} of pieces) {
    for (let bin = 0; bin < bins; bin++) all.set(data.subarray(bin * frames, (bin + 1) * frames), bin * total + at)
    at += frames
  }
  return all
}

/** The columns `from` to `to` of `[bins, total]`. */
function columns(all: Float32Array, bins: number, total: number, from: number, to: number): Float32Array {
  const out = new Float32Array(bins * (to - from))
  for (let bin = 0; bin < bins; bin++) out.set(all.subarray(bin * total + from, bin * total + to), bin * (to - from))
  return out
}
