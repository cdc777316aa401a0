import {type FrameSpan, RegionBuilder, type RegionState, type ScoredFrame} from './region-builder.js'
import type {SpeechRegion, VoiceActivityDetector, VoiceActivityState} from './voice-activity.js'

export interface VadTensor {
  data: Float32Array | BigInt64Array
  dims: readonly number[]
}

/** A network that returns the speech probability of each frame. The caller that opened it releases it. */
export interface VadModel {
  readonly inputNames: readonly string[]
  run(
    feeds: Readonly<Record<string, VadTensor>>,
    fetches: readonly string[],
  ): Promise<Readonly<Record<string, Float32Array>>>
}

export interface NeuralVadOptions {
  /** Probability at which speech begins; it ends when the probability falls below `threshold - 0.15`, at least 0.01. */
  threshold?: number
  mergeGapMs?: number
  /** Minimum length of a region, ms. */
  minSpeechMs?: number
  maxRegionSec?: number
  /** State to continue from. */
  state?: VoiceActivityState | undefined
}

interface NeuralVadState extends VoiceActivityState {
  frames: FrameScoresState
  regions: RegionState<ScoredFrame>
}

/** Context of the next frame and its samples so far, and the recurrent state of the network. */
interface FrameScoresState {
  rest: Float32Array
  recurrent: Record<string, VadTensor>
}

/** New samples of a frame (32 ms at 16 kHz), and preceding samples that are passed as context. */
const frameSamples = 512
const contextSamples = 64
const inputSamples = contextSamples + frameSamples
const frameMs = 32

const hysteresis = 0.15
/** Lower bound of the probability at which speech ends, as in faster-whisper; with 0, it would never end. */
const minSustain = 0.01
/** Minimum length of speech, frames. */
const minVoice = 2
const maxOnset = 4

/** Inputs and outputs of one variant of the model. */
interface Signature {
  /** Input names that identify the variant. */
  inputs: readonly string[]
  probability: string
  /** Recurrent state: each input receives the named output of the previous frame. */
  state: Readonly<Record<string, {output: string; dims: readonly number[]}>>
  constants: Readonly<Record<string, VadTensor>>
}

/** The two variants of Silero VAD: with the LSTM state in `h` and `c`, or in one tensor `state`. */
const signatures: readonly Signature[] = [
  {
    inputs: ['input', 'h', 'c'],
    probability: 'speech_probs',
    state: {h: {output: 'hn', dims: [1, 1, 128]}, c: {output: 'cn', dims: [1, 1, 128]}},
    constants: {},
  },
  {
    inputs: ['input', 'state', 'sr'],
    probability: 'output',
    state: {state: {output: 'stateN', dims: [2, 1, 128]}},
    constants: {sr: {data: BigInt64Array.of(16_000n), dims: []}},
  },
]

/** True if `neuralVad` supports a model with these inputs. */
export const isVadModel = (inputNames: readonly string[]): boolean => signatureOf(inputNames) !== undefined

const signatureOf = (names: readonly string[]) =>
  signatures.find(({inputs}) => inputs.every((name) => names.includes(name)))

/**
 * Voice activity detector based on Silero VAD, in either variant.
 * @throws TypeError if the inputs of the model match neither variant
 */
export function neuralVad(
  model: VadModel,
  {threshold = 0.5, mergeGapMs = 300, minSpeechMs = 0, maxRegionSec = 25, state}: NeuralVadOptions = {},
): VoiceActivityDetector {
  const signature = signatureOf(model.inputNames)
  if (signature === undefined) throw new TypeError('The inputs of the model do not match Silero VAD.')
  const continued = structuredClone(state) as NeuralVadState | undefined
  const regions = new RegionBuilder<ScoredFrame>(
    {
      begin: threshold,
      sustain: Math.max(threshold - hysteresis, minSustain),
      mergeGap: Math.max(1, Math.round(mergeGapMs / frameMs)),
      minRun: minVoice,
      minLength: Math.ceil(minSpeechMs / frameMs),
      maxLength: Math.round((maxRegionSec * 1000) / frameMs),
      onset: maxOnset,
    },
    continued?.regions,
  )
  const frames = new FrameScores(model, signature, continued?.frames)
  let length = continued?.length ?? 0
  const region = ({start, end}: FrameSpan): SpeechRegion => ({
    start: Math.min(start * frameSamples, length),
    end: Math.min(end * frameSamples, length),
  })
  const take = async (samples: Float32Array): Promise<SpeechRegion[]> => {
    const scores = await frames.push(samples)
    return scores.flatMap((score) => {
      const span = regions.add({score})
      return span === undefined ? [] : [region(span)]
    })
  }
  return {
    async push(samples) {
      length += samples.length
      return take(samples)
    },
    async flush() {
      const ended = await take(new Float32Array((frameSamples - (length % frameSamples)) % frameSamples))
      const last = regions.close()
      return last === undefined ? ended : [...ended, region(last)]
    },
    get open() {
      return regions.open === undefined ? undefined : region(regions.open)
    },
    get settled() {
      return Math.max(0, regions.settled * frameSamples)
    },
    snapshot: (): NeuralVadState => structuredClone({length, frames: frames.state, regions: regions.state}),
  }
}

const silent = ({state}: Signature): Record<string, VadTensor> =>
  Object.fromEntries(
    Object.entries(state).map(([name, {dims}]) => [
      name,
      {data: new Float32Array(dims.reduce((product, dim) => product * dim, 1)), dims},
    ]),
  )

/** Computes the probabilities of complete frames from streamed samples. */
class FrameScores {
  readonly #model: VadModel
  readonly #signature: Signature
  readonly #state: FrameScoresState

  constructor(model: VadModel, signature: Signature, state?: FrameScoresState) {
    this.#model = model
    this.#signature = signature
    this.#state = state ?? {rest: new Float32Array(contextSamples), recurrent: silent(signature)}
  }

  get state(): FrameScoresState {
    return this.#state
  }

  async push(samples: Float32Array): Promise<number[]> {
    const sound = new Float32Array(this.#state.rest.length + samples.length)
    sound.set(this.#state.rest)
    sound.set(samples, this.#state.rest.length)
    const scores: number[] = []
    let at = 0
    for (; at + inputSamples <= sound.length; at += frameSamples)
      scores.push(await this.#score(sound.slice(at, at + inputSamples)))
    this.#state.rest = sound.slice(at)
    return scores
  }

  async #score(sound: Float32Array): Promise<number> {
    const {probability, state, constants} = this.#signature
    const feeds = {input: {data: sound, dims: [1, inputSamples]}, ...this.#state.recurrent, ...constants}
    const outputs = Object.values(state).map(({output}) => output)
    const results = await this.#model.run(feeds, [probability, ...outputs])
    for (const [name, {output, dims}] of Object.entries(state)) {
      const data = results[output]
      if (data !== undefined) this.#state.recurrent[name] = {data, dims}
    }
    return results[probability]?.[0] ?? 0
  }
}
