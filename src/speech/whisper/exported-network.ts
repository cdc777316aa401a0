import {SvcError} from '../../errors/index.js'
import {booleans, type Device, modelPath, type OnnxSession, openSession, type Tensor, tensor} from '../../onnx/index.js'
import {TokenLogits} from '../../sampling/index.js'
import {refusePointerFile} from '../../weights/index.js'
import type {WhisperConfig} from './config.js'
import {attentionOf} from './cross-attention.js'
import type {ExportFiles} from './export-files.js'
import {type CacheShape, ExportedCache} from './exported-cache.js'
import type {AudioContext, CrossAttention, DecoderRun, WhisperNetwork} from './network.js'

export interface ExportedNetworkOptions {
  threads: number
  device: Device
  /** Alignment heads, whose cross-attention follows the audio, as `[layer, head]`. */
  alignmentHeads: readonly (readonly [layer: number, head: number])[]
}

interface Parts extends ExportedNetworkOptions {
  config: WhisperConfig
  encoder: OnnxSession
  decoder: OnnxSession
  decoderWithPast: OnnxSession
}

/**
 * Opens a Whisper model from the graphs of an ONNX export. Feeds depend on the inputs of each graph, because exports
 * differ: some have a flag for the cached branch or positions.
 * @throws model_file_invalid, lfs_pointer
 */
export async function openExportedNetwork(
  config: WhisperConfig,
  files: ExportFiles,
  options: ExportedNetworkOptions,
): Promise<WhisperNetwork> {
  const open = (file: string) => openGraph(file, options)
  const encoder = await open(files.encoder)
  const decoder = await open(files.decoder)
  const merged = files.decoder === files.decoderWithPast
  const decoderWithPast = merged ? decoder : await open(files.decoderWithPast)
  const parts: Parts = {config, encoder, decoder, decoderWithPast, ...options}
  const aligns = decoder.outputs.some(({name}) => name === 'cross_attentions.0')
  return {
    aligns,
    anyLength: false,
    encode: (mel, frames) => encode(parts, aligns, mel, frames),
    async release() {
      await encoder.release()
      await decoder.release()
      if (!merged) await decoderWithPast.release()
    },
  }
}

/** Opens a graph by its path, not from memory, so that the runtime finds its external data. */
async function openGraph(file: string, {threads, device}: ExportedNetworkOptions): Promise<OnnxSession> {
  const fail = (reason: string, cause?: Error) => new SvcError('model_file_invalid', {file, reason}, {cause})
  const session = await openSession(await modelPath(file), {threads, device, memoryPattern: false}).catch(
    async (error: Error) => {
      await refusePointerFile(file)
      throw fail(error.message.replace(/\.$/, ''), error)
    },
  )
  const half = session.inputs.find(({type}) => type === 'float16')
  if (half === undefined) return session
  await session.release()
  throw fail(`its input ${half.name} has 16-bit floats, but only 32-bit floats are supported`)
}

async function encode(parts: Parts, aligns: boolean, mel: Float32Array, frames: number): Promise<AudioContext> {
  const {config, encoder} = parts
  const input = encoder.inputs[0]?.name ?? 'input_features'
  const output = encoder.outputs[0]?.name ?? 'last_hidden_state'
  const result = await encoder.run({[input]: tensor(mel, [1, config.melBins, frames])}, {[output]: null})
  const states = result[output] as Tensor
  const positions = states.dims[1] as number
  return {
    positions,
    decode: () => new ExportedDecoderRun(parts, states),
    ...(aligns ? {align: (tokens: readonly number[]) => align(parts, states, positions, tokens)} : {}),
  }
}

class ExportedDecoderRun implements DecoderRun {
  readonly #parts: Parts
  readonly #states: Tensor
  readonly #cache: ExportedCache

  constructor(parts: Parts, states: Tensor) {
    this.#parts = parts
    this.#states = states
    this.#cache = new ExportedCache(cacheShape(parts.config))
  }

  get rows(): number {
    return this.#cache.rows
  }

  get wholeHeads(): number {
    return 0
  }

  get length(): number {
    return this.#cache.length
  }

  async prefill(tokens: readonly number[], at: readonly number[]): Promise<TokenLogits[]> {
    const logits = await this.#run(tokens, 1)
    return at.map((position) => rowOf(logits, position, tokens.length))
  }

  async step(tokens: readonly number[]): Promise<TokenLogits[]> {
    const logits = await this.#run(tokens, tokens.length)
    return tokens.map((_, row) => rowOf(logits, row, tokens.length))
  }

  select(sources: readonly number[]): void {
    this.#cache.select(sources)
  }

  async #run(tokens: readonly number[], rows: number): Promise<Float32Array> {
    const first = this.#cache.length === 0
    const graph = first ? this.#parts.decoder : this.#parts.decoderWithPast
    const outputs = graph.outputs.map(({name}) => name).filter((name) => name.startsWith('present.'))
    // The encoder's keys and values are valid only in the first run; the cached branch outputs placeholders.
    const valid = outputs.filter((name) => first || !name.includes('.encoder.'))
    const fetches = Object.fromEntries(['logits', ...valid].map((name) => [name, null]))
    const feeds = feedsOf(graph, this.#states, this.#cache, tokens, rows)
    const results = await graph.run(feeds, fetches)
    this.#cache.store(results, tokens.length / rows)
    return (results.logits as Tensor).data as Float32Array
  }
}

/** One of the rows of `[rows, vocabulary]`. */
function rowOf(logits: Float32Array, row: number, rows: number): TokenLogits {
  const size = logits.length / rows
  return TokenLogits.of(logits.slice(row * size, (row + 1) * size))
}

const cacheShape = ({decoder, hiddenSize}: WhisperConfig): CacheShape => ({
  layers: decoder.layers,
  heads: decoder.heads,
  headDim: hiddenSize / decoder.heads,
})

/** Runs the decoder over the text for the cross-attention of the alignment heads. */
function align(
  {config, decoder, alignmentHeads}: Parts,
  states: Tensor,
  positions: number,
  tokens: readonly number[],
): Promise<CrossAttention> {
  const feeds = feedsOf(decoder, states, new ExportedCache(cacheShape(config)), tokens, 1)
  const shape = {tokens: tokens.length, positions}
  return attentionOf('cross_attentions', alignmentHeads, shape, (fetches) => decoder.run(feeds, fetches))
}

/** The feeds for exactly the inputs of the graph. */
function feedsOf(
  graph: OnnxSession,
  states: Tensor,
  cache: ExportedCache,
  tokens: readonly number[],
  rows: number,
): Record<string, Tensor> {
  const time = tokens.length / rows
  const positions = Array.from({length: time}, (_, i) => BigInt(cache.length + i))
  const inputs: Record<string, () => Tensor> = {
    input_ids: () => tensor(BigInt64Array.from(tokens, BigInt), [rows, time]),
    encoder_hidden_states: () => repeated(states, rows),
    use_cache_branch: () => booleans([cache.length > 0], [1]),
    cache_position: () => tensor(BigInt64Array.from(positions), [time]),
    position_ids: () =>
      tensor(
        BigInt64Array.from({length: rows * time}, (_, i) => positions[i % time]!),
        [rows, time],
      ),
  }
  return Object.fromEntries(
    graph.inputs.map(({name}) => {
      const create = inputs[name] ?? (() => cache.feed(name))
      return [name, create()]
    }),
  )
}

/** Repeats `[1, positions, size]` for each row. */
function repeated(states: Tensor, rows: number): Tensor {
  if (rows === 1) return states
  const one = states.data as Float32Array
  const all = new Float32Array(rows * one.length)
  for (let row = 0; row < rows; row++) all.set(one, row * one.length)
  return tensor(all, [rows, ...states.dims.slice(1)])
}
