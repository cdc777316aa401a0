import {openSession, type Session, type Tensor, tensor} from '../onnx/index.js'
import type {TensorEntry} from '../weights/index.js'
import {buildDecoderGraph} from './decoder-graph.js'
import {KvCache} from './kv-cache.js'
import type {DecoderSpec} from './spec.js'

export interface DecoderOptions {
  contextLength: number
  threads: number
}

/** A decoder that is ready to run. */
export interface Decoder {
  readonly spec: DecoderSpec
  readonly contextLength: number
  /** An empty cache for a new sequence. */
  newCache(): KvCache
  /**
   * Appends tokens to a sequence and gives logits: of the last position `[1, vocabulary]`, or of all the new ones
   * `[tokens, vocabulary]`.
   */
  forward(cache: KvCache, tokens: readonly number[], logits?: 'last' | 'all'): Promise<Float32Array>
  release(): Promise<void>
}

/**
 * Opens the graph of a decoder on its shards.
 * @throws tensor_missing, tensor_shape, tensor_dtype
 */
export async function openDecoder(
  spec: DecoderSpec,
  tensors: ReadonlyMap<string, TensorEntry>,
  {contextLength, threads}: DecoderOptions,
): Promise<Decoder> {
  const {model, externalFolder} = buildDecoderGraph(spec, tensors, contextLength)
  const session = await openSession(model, {externalFolder, threads})
  return {
    spec,
    contextLength,
    newCache: () =>
      new KvCache(
        spec.layers.map(({attention: {kvHeads, headDim}}) => ({kvHeads, headDim})),
        contextLength,
      ),
    forward: (cache, tokens, logits = 'last') => forward(session, cache, tokens, logits),
    release: () => session.release(),
  }
}

async function forward(
  session: Session,
  cache: KvCache,
  tokens: readonly number[],
  logits: 'last' | 'all',
): Promise<Float32Array> {
  const past = cache.length
  const time = tokens.length
  const total = past + time
  cache.reserve(total)
  const feeds: Record<string, Tensor> = {
    tokens: tensor(BigInt64Array.from(tokens, BigInt), [1, time]),
    positions: tensor(
      BigInt64Array.from(tokens, (_, i) => BigInt(past + i)),
      [1, time],
    ),
    last_index: tensor(Int32Array.of(total - 1), [1]),
    total_length: tensor(Int32Array.of(total), [1]),
    logit_rows: rowsOf(logits, time),
  }
  const fetches: {logits: Tensor | null; [present: string]: Tensor | null} = {logits: null}
  for (const [i, {key, value}] of cache.tensors.entries()) {
    feeds[`past_key.${i}`] = key
    feeds[`past_value.${i}`] = value
    fetches[`present_key.${i}`] = key
    fetches[`present_value.${i}`] = value
  }
  const outputs = await session.run(feeds, fetches)
  cache.advance(time)
  return outputs.logits.data as Float32Array
}

function rowsOf(logits: 'last' | 'all', time: number): Tensor {
  if (logits === 'last') return tensor(BigInt64Array.of(BigInt(time - 1)), [1])
  return tensor(
    BigInt64Array.from({length: time}, (_, i) => BigInt(i)),
    [time],
  )
}
