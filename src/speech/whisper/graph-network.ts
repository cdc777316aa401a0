import {type Device, openSession, type Session, type Tensor, tensor} from '../../onnx/index.js'
import type {TensorMap} from '../../weights/index.js'
import type {WhisperConfig} from './config.js'
import {attentionOf} from './cross-attention.js'
import {buildDecoderGraph} from './decoder-graph.js'
import {buildEncoderGraph} from './encoder-graph.js'
import {exactEncoderPositions} from './encoder-positions.js'
import type {AudioContext, CrossAttention, DecoderRun, WhisperNetwork} from './network.js'
import {SelfAttentionCache} from './self-attention-cache.js'
import {openTokenEmbedding, type TokenEmbedding} from './token-embedding.js'

export interface GraphNetworkOptions {
  threads: number
  device: Device
  /** Alignment heads, whose cross-attention follows the audio, as `[layer, head]`. */
  alignmentHeads: readonly (readonly [layer: number, head: number])[]
}

interface Parts extends GraphNetworkOptions {
  config: WhisperConfig
  encoder: Session
  decoder: Session
  embedding: TokenEmbedding
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
  const {threads, device, alignmentHeads} = options
  const aligned = new Set(alignmentHeads.map(([layer]) => layer))
  const open = ({model, externalFolder}: ReturnType<typeof buildEncoderGraph>) =>
    openSession(model, {threads, device, externalFolder, memoryPattern: false})
  const encoder = await open(
    buildEncoderGraph(config, tensors, {positions: await exactEncoderPositions(config, tensors)}),
  )
  const decoder = await open(buildDecoderGraph(config, tensors, aligned))
  const embedding = await openTokenEmbedding(config, tensors)
  const parts: Parts = {config, encoder, decoder, embedding, ...options}
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
    decode: () => new GraphDecoderRun(parts, cross),
    align: (tokens) => align(parts, cross, positions, tokens),
  }
}

class GraphDecoderRun implements DecoderRun {
  readonly #parts: Parts
  readonly #cross: Readonly<Record<string, Tensor>>
  readonly #cache: SelfAttentionCache

  constructor(parts: Parts, cross: Readonly<Record<string, Tensor>>) {
    this.#parts = parts
    this.#cross = cross
    this.#cache = new SelfAttentionCache(parts.config.decoder.layers, parts.config.hiddenSize)
  }

  get rows(): number {
    return this.#cache.batch
  }

  get length(): number {
    return this.#cache.length
  }

  prefill(tokens: readonly number[], at: readonly number[]): Promise<Float32Array> {
    return this.#run(tokens, tokens.length, at)
  }

  step(tokens: readonly number[]): Promise<Float32Array> {
    return this.#run(tokens, 1, Array.from(tokens.keys()))
  }

  select(sources: readonly number[]): void {
    this.#cache.select(sources)
  }

  /** Runs the decoder over tokens, time-major, and returns the logits of the given rows. */
  async #run(tokens: readonly number[], time: number, logitRows: readonly number[]): Promise<Float32Array> {
    const {decoder, config} = this.#parts
    const fetches: Record<string, Tensor | null> = {logits: null}
    for (let i = 0; i < config.decoder.layers; i++) {
      fetches[`key.${i}`] = null
      fetches[`value.${i}`] = null
    }
    const feeds = decoderFeeds(this.#parts, this.#cross, this.#cache, tokens, time, logitRows)
    const outputs = await decoder.run(feeds, fetches)
    this.#cache.append(outputs, time)
    return (outputs.logits as Tensor).data as Float32Array
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
  const feeds = decoderFeeds(parts, cross, cache, tokens, tokens.length, [0])
  const shape = {tokens: tokens.length, positions}
  return attentionOf('attention', alignmentHeads, shape, (fetches) => decoder.run(feeds, fetches))
}

function decoderFeeds(
  {config, embedding}: Parts,
  cross: Readonly<Record<string, Tensor>>,
  cache: SelfAttentionCache,
  tokens: readonly number[],
  time: number,
  logitRows: readonly number[],
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
