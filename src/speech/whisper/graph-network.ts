import {type Device, type OnnxSession, openSession, type Tensor, tensor} from '../../onnx/index.js'
import type {TokenLogits} from '../../sampling/index.js'
import type {TensorMap} from '../../weights/index.js'
import type {WhisperConfig} from './config.js'
import {attentionOf} from './cross-attention.js'
import {crossNames, crossStateBytes} from './cross-states.js'
import {buildDecoderGraph} from './decoder-graph.js'
import {type DecoderLogits, decoderLogits} from './decoder-logits.js'
import {buildEncoderGraph} from './encoder-graph.js'
import {exactEncoderPositions} from './encoder-positions.js'
import type {AudioContext, CrossAttention, DecoderRun, DecoderRunOptions, WhisperNetwork} from './network.js'
import {SelfAttentionCache} from './self-attention-cache.js'
import {openTokenEmbedding, type TokenEmbedding} from './token-embedding.js'

export interface GraphNetworkOptions {
  threads: number
  device: Device
  /** Alignment heads, whose cross-attention follows the audio, as `[layer, head]`. */
  alignmentHeads: readonly (readonly [layer: number, head: number])[]
  /** Number of text tokens, which precede all others. */
  textTokens: number
}

interface Parts extends GraphNetworkOptions {
  config: WhisperConfig
  /** Names of the encoder's outputs. */
  cross: readonly string[]
  encoder: OnnxSession
  decoder: OnnxSession
  embedding: TokenEmbedding
  logits: () => DecoderLogits
}

/**
 * Opens a Whisper model with generated graphs over its safetensors. Matrices with quantised copies in `tensors` use
 * those.
 * @throws tensor_missing, tensor_shape, tensor_dtype
 */
export async function openGraphNetwork(
  config: WhisperConfig,
  tensors: TensorMap,
  options: GraphNetworkOptions,
): Promise<WhisperNetwork> {
  const {threads, device, alignmentHeads, textTokens: text} = options
  const aligned = new Set(alignmentHeads.map(([layer]) => layer))
  const open = ({model, externalFolder}: ReturnType<typeof buildEncoderGraph>) =>
    openSession(model, {threads, device, externalFolder, memoryPattern: false})
  const encoder = await open(
    buildEncoderGraph(config, tensors, {positions: await exactEncoderPositions(config, tensors)}),
  )
  const decoder = await open(buildDecoderGraph(config, tensors, {aligned, text}))
  const embedding = await openTokenEmbedding(config, tensors)
  const logits = await decoderLogits(config, tensors, embedding, text)
  const cross = Array.from({length: config.decoder.layers}, (_, i) => crossNames(i, tensors)).flat()
  const parts: Parts = {config, cross, encoder, decoder, embedding, logits, ...options}
  return {
    aligns: true,
    anyLength: true,
    batchBytes: 2 * crossStateBytes(config, tensors),
    encode: (mel, frames) => encode(parts, mel, frames),
    together: (windows) => together(parts, windows as GraphContext[]),
    async release() {
      embedding.close()
      await encoder.release()
      await decoder.release()
    },
  }
}

/** Each step returns the logits of all tokens. */
const allTokens: DecoderRunOptions = {allLogits: true, suppressed: []}

/** Cross-attention keys and values by the names of the decoder's inputs: of each window, one after another. */
type Cross = Readonly<Record<string, Tensor>>

interface GraphContext extends AudioContext {
  readonly cross: Cross
}

async function encode(parts: Parts, mel: Float32Array, frames: number): Promise<GraphContext> {
  const {config, encoder} = parts
  const encoded = await encoder.run(
    {mel: tensor(mel, [1, config.melBins, frames])},
    Object.fromEntries(parts.cross.map((name) => [name, null])),
  )
  const cross = stacked([encoded])
  const positions = (cross['cross_value.0'] as Tensor).dims[2] as number
  return {
    positions,
    cross,
    decode: (run = allTokens) => new GraphDecoderRun(parts, cross, run),
    align: (tokens) => align(parts, cross, positions, tokens),
  }
}

/** The windows must have equal lengths. */
function together(parts: Parts, windows: readonly GraphContext[]): AudioContext {
  return {
    positions: windows[0]?.positions ?? 0,
    decode: (run = allTokens) =>
      new WindowsRun(
        windows.map(({cross}) => cross),
        (cross) => new GraphDecoderRun(parts, cross, run),
      ),
  }
}

type CrossData = Float32Array | Int8Array | Int32Array

/** Joins the keys and values of windows; those of a single window are not copied. */
function stacked(windows: readonly Cross[]): Cross {
  const [first = {}] = windows
  return Object.fromEntries(
    Object.entries(first).map(([name, {data, dims}]) => {
      const shape = dims.slice(-3)
      if (windows.length === 1) return [name, tensor(data as CrossData, [1, ...shape])]
      const size = data.length
      const joined = new (data.constructor as new (length: number) => CrossData)(windows.length * size)
      for (const [i, one] of windows.entries()) joined.set((one[name] as Tensor).data as CrossData, i * size)
      return [name, tensor(joined, [windows.length, ...shape])]
    }),
  )
}

/** Tokens of a run, time-major, and the rows whose logits it returns. */
interface DecoderStep {
  tokens: readonly number[]
  /** Number of tokens per hypothesis. */
  time: number
  logitRows: readonly number[]
}

class GraphDecoderRun implements DecoderRun {
  readonly #parts: Parts
  #cross: Cross
  readonly #cache: SelfAttentionCache
  readonly #logits: DecoderLogits
  readonly #options: DecoderRunOptions
  #wholeHeads = 0

  constructor(parts: Parts, cross: Cross, options: DecoderRunOptions) {
    this.#parts = parts
    this.#logits = parts.logits()
    this.#options = options
    this.#cross = cross
    this.#cache = new SelfAttentionCache(parts.config.decoder.layers, parts.config.hiddenSize)
  }

  get rows(): number {
    return this.#cache.batch
  }

  get length(): number {
    return this.#cache.length
  }

  get wholeHeads(): number {
    return this.#wholeHeads
  }

  prefill(tokens: readonly number[], at: readonly number[], wanted: readonly number[] = []): Promise<TokenLogits[]> {
    return this.run(
      {tokens, time: tokens.length, logitRows: at},
      at.map(() => wanted),
      true,
    )
  }

  step(
    tokens: readonly number[],
    wanted: readonly (readonly number[])[] = tokens.map(() => []),
  ): Promise<TokenLogits[]> {
    return this.run({tokens, time: 1, logitRows: Array.from(tokens.keys())}, wanted, this.#options.allLogits)
  }

  select(sources: readonly number[]): void {
    this.#cache.select(sources)
  }

  /** Replaces the windows, and row i with the previous row `sources[i]`. */
  selectWindows(sources: readonly number[], cross: Cross): void {
    this.#cross = cross
    this.select(sources)
  }

  /** Runs the decoder and returns the logits of the given rows. */
  async run(step: DecoderStep, wanted: readonly (readonly number[])[], all: boolean): Promise<TokenLogits[]> {
    const {decoder, config} = this.#parts
    const {suppressed, exact = 1} = this.#options
    const fetches: Record<string, null> = this.#logits.fetches(all)
    for (let i = 0; i < config.decoder.layers; i++) {
      fetches[`key.${i}`] = null
      fetches[`value.${i}`] = null
    }
    const feeds = {
      ...decoderFeeds(this.#parts, this.#cross, this.#cache, step),
      ...this.#logits.feeds(suppressed, wanted, exact),
    }
    const outputs = await decoder.run(feeds, fetches)
    this.#cache.append(outputs, step.time)
    return this.#logits.read(outputs, wanted, all, () => {
      this.#wholeHeads++
    })
  }
}

/**
 * One hypothesis for each of several windows. Rows that have ended stay in the run until half of them have, because
 * removing a row moves the keys and values of all windows.
 */
class WindowsRun implements DecoderRun {
  readonly #run: GraphDecoderRun
  #windows: readonly Cross[]
  /** Places of the rows in the run. */
  #places: number[]

  constructor(windows: readonly Cross[], start: (cross: Cross) => GraphDecoderRun) {
    this.#windows = windows
    this.#places = [...windows.keys()]
    this.#run = start(stacked(windows))
    this.#run.select(windows.map(() => 0))
  }

  get rows(): number {
    return this.#places.length
  }

  get length(): number {
    return this.#run.length
  }

  get wholeHeads(): number {
    return this.#run.wholeHeads
  }

  prefill(tokens: readonly number[], at: readonly number[], wanted: readonly number[] = []): Promise<TokenLogits[]> {
    const count = this.#windows.length
    const step = {
      tokens: tokens.flatMap((token) => new Array<number>(count).fill(token)),
      time: tokens.length,
      logitRows: at.flatMap((position) => this.#windows.map((_, i) => position * count + i)),
    }
    return this.#run.run(
      step,
      step.logitRows.map(() => wanted),
      true,
    )
  }

  async step(tokens: readonly number[], wanted: readonly (readonly number[])[] = []): Promise<TokenLogits[]> {
    if (2 * this.#places.length <= this.#windows.length) this.#shrink()
    const all = this.#windows.map(() => ({token: 0, wanted: [] as readonly number[]}))
    for (const [i, place] of this.#places.entries()) all[place] = {token: tokens[i] as number, wanted: wanted[i] ?? []}
    const logits = await this.#run.step(
      all.map(({token}) => token),
      all.map((one) => one.wanted),
    )
    return this.#places.map((place) => logits[place] as TokenLogits)
  }

  select(sources: readonly number[]): void {
    this.#places = sources.map((source) => this.#places[source] as number)
  }

  #shrink(): void {
    this.#windows = this.#places.map((place) => this.#windows[place] as Cross)
    this.#run.selectWindows(this.#places, stacked(this.#windows))
    this.#places = [...this.#windows.keys()]
  }
}

/** Runs the decoder over the text for the cross-attention of the alignment heads only. */
function align(parts: Parts, cross: Cross, positions: number, tokens: readonly number[]): Promise<CrossAttention> {
  const {config, decoder, alignmentHeads} = parts
  const cache = new SelfAttentionCache(config.decoder.layers, config.hiddenSize)
  const step = {tokens, time: tokens.length, logitRows: [0]}
  const feeds = {...decoderFeeds(parts, cross, cache, step), ...parts.logits().feeds([], [[]], 1)}
  const shape = {tokens: tokens.length, positions}
  return attentionOf('attention', alignmentHeads, shape, (fetches) => decoder.run(feeds, fetches))
}

function decoderFeeds(
  {config, embedding}: Parts,
  cross: Cross,
  cache: SelfAttentionCache,
  {tokens, time, logitRows}: DecoderStep,
): Record<string, Tensor> {
  const {hiddenSize, decoder} = config
  const {batch, length} = cache
  const windows = (cross['cross_value.0'] as Tensor).dims[0] as number
  const headDim = hiddenSize / decoder.heads
  const hidden = new Float32Array(tokens.length * hiddenSize)
  for (const [row, token] of tokens.entries())
    embedding.embed(token, length + Math.floor(row / batch), hidden, row * hiddenSize)
  return {
    hidden: tensor(hidden, [tokens.length, hiddenSize]),
    split: tensor(BigInt64Array.from([time, batch, decoder.heads, headDim], BigInt), [4]),
    window_split: tensor(BigInt64Array.from([tokens.length / windows, windows, decoder.heads, headDim], BigInt), [4]),
    mask: causalMask(time, length),
    logit_rows: tensor(BigInt64Array.from(logitRows, BigInt), [logitRows.length]),
    ...cache.feeds(),
    ...cross,
  }
}

/** Causal mask `[time, past + time]`: 0 for visible positions, -infinity for later ones. */
function causalMask(time: number, past: number): Tensor {
  const total = past + time
  const mask = new Float32Array(time * total)
  for (let row = 0; row < time; row++) mask.fill(-Infinity, row * total + past + row + 1, (row + 1) * total)
  return tensor(mask, [time, total])
}
