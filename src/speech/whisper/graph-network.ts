import {type Device, openSession, type Session, type Tensor, tensor} from '../../onnx/index.js'
import type {TokenLogits} from '../../sampling/index.js'
import type {TensorMap} from '../../weights/index.js'
import type {WhisperConfig} from './config.js'
import {attentionOf} from './cross-attention.js'
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
  encoder: Session
  decoder: Session
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
  const parts: Parts = {config, encoder, decoder, embedding, logits, ...options}
  return {
    aligns: true,
    anyLength: true,
    encode: (mel, frames) => encode(parts, mel, frames),
    async release() {
      embedding.close()
      await encoder.release()
      await decoder.release()
    },
  }
}

async function encode(parts: Parts, mel: Float32Array, frames: number): Promise<AudioContext> {
  const {config, encoder} = parts
  const names = Array.from({length: config.decoder.layers}, (_, i) => [`cross_key.${i}`, `cross_value.${i}`]).flat()
  const cross = await encoder.run(
    {mel: tensor(mel, [1, config.melBins, frames])},
    Object.fromEntries(names.map((name) => [name, null])),
  )
  const positions = (cross['cross_value.0'] as Tensor).dims[1] as number
  return {
    positions,
    decode: (run = {allLogits: true, suppressed: []}) => new GraphDecoderRun(parts, cross, run),
    align: (tokens) => align(parts, cross, positions, tokens),
  }
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
  readonly #cross: Readonly<Record<string, Tensor>>
  readonly #cache: SelfAttentionCache
  readonly #logits: DecoderLogits
  readonly #options: DecoderRunOptions
  #wholeHeads = 0

  constructor(parts: Parts, cross: Readonly<Record<string, Tensor>>, options: DecoderRunOptions) {
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
    return this.#run(
      {tokens, time: tokens.length, logitRows: at},
      at.map(() => wanted),
      true,
    )
  }

  step(
    tokens: readonly number[],
    wanted: readonly (readonly number[])[] = tokens.map(() => []),
  ): Promise<TokenLogits[]> {
    return this.#run({tokens, time: 1, logitRows: Array.from(tokens.keys())}, wanted, this.#options.allLogits)
  }

  select(sources: readonly number[]): void {
    this.#cache.select(sources)
  }

  /** Runs the decoder and returns the logits of the given rows. */
  async #run(step: DecoderStep, wanted: readonly (readonly number[])[], all: boolean): Promise<TokenLogits[]> {
    const {decoder, config} = this.#parts
    const fetches: Record<string, null> = this.#logits.fetches(all)
    for (let i = 0; i < config.decoder.layers; i++) {
      fetches[`key.${i}`] = null
      fetches[`value.${i}`] = null
    }
    const feeds = {
      ...decoderFeeds(this.#parts, this.#cross, this.#cache, step),
      ...this.#logits.feeds(this.#options.suppressed, wanted),
    }
    const outputs = await decoder.run(feeds, fetches)
    this.#cache.append(outputs, step.time)
    return this.#logits.read(outputs, wanted, () => {
      this.#wholeHeads++
    })
  }
}

/** Runs the decoder over the text for the cross-attention of the alignment heads only. */
function align(
  parts: Parts,
  cross: Readonly<Record<string, Tensor>>,
  positions: number,
  tokens: readonly number[],
): Promise<CrossAttention> {
  const {config, decoder, alignmentHeads} = parts
  const cache = new SelfAttentionCache(config.decoder.layers, config.hiddenSize)
  const step = {tokens, time: tokens.length, logitRows: [0]}
  const feeds = {...decoderFeeds(parts, cross, cache, step), ...parts.logits().feeds([], [[]])}
  const shape = {tokens: tokens.length, positions}
  return attentionOf('attention', alignmentHeads, shape, (fetches) => decoder.run(feeds, fetches))
}

function decoderFeeds(
  {config, embedding}: Parts,
  cross: Readonly<Record<string, Tensor>>,
  cache: SelfAttentionCache,
  {tokens, time, logitRows}: DecoderStep,
): Record<string, Tensor> {
  const {hiddenSize, decoder} = config
  const {batch, length} = cache
  const hidden = new Float32Array(tokens.length * hiddenSize)
  for (const [row, token] of tokens.entries())
    embedding.embed(token, length + Math.floor(row / batch), hidden, row * hiddenSize)
  return {
    hidden: tensor(hidden, [tokens.length, hiddenSize]),
    split: tensor(BigInt64Array.from([time, batch, decoder.heads, hiddenSize / decoder.heads], BigInt), [4]),
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
