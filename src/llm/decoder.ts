import {type Device, openSession, type Session, type Tensor, tensor} from '../onnx/index.js'
import type {Adapter, TensorMap} from '../weights/index.js'
import {buildDecoderGraph} from './decoder-graph.js'
import {KvCache} from './kv-cache.js'
import type {DecoderSpec} from './spec.js'

export interface DecoderOptions {
  contextLength: number
  threads: number
  adapter?: Adapter | undefined
  device?: Device
}

export interface Decoder {
  readonly spec: DecoderSpec
  readonly contextLength: number
  /** Creates an empty cache for this decoder. */
  newCache(): KvCache
  /**
   * Appends tokens to one sequence and returns logits: of the last position `[1, vocabulary]`, or of all new positions
   * `[tokens, vocabulary]`.
   */
  prefill(cache: KvCache, slot: number, tokens: readonly number[], options?: PrefillOptions): Promise<Float32Array>
  /**
   * Appends one token to each of the first sequences of the cache in one run, and returns their logits,
   * `[tokens, vocabulary]`.
   * @param adapted whether the adapter is applied to each sequence; default: to all
   */
  step(cache: KvCache, tokens: readonly number[], adapted?: readonly boolean[]): Promise<Float32Array>
  release(): Promise<void>
}

export interface PrefillOptions {
  logits?: 'last' | 'all'
  adapted?: boolean
}

/**
 * Builds the graph of a decoder over its shards and opens a session.
 * @throws tensor_missing, tensor_shape, tensor_dtype, adapter_mismatch
 */
export async function openDecoder(
  spec: DecoderSpec,
  tensors: TensorMap,
  {contextLength, threads, adapter, device = 'cpu'}: DecoderOptions,
): Promise<Decoder> {
  const {model, externalFolder} = buildDecoderGraph(spec, tensors, adapter, contextLength)
  const session = await openSession(model, {externalFolder, threads, device})
  const run = (cache: KvCache, batch: Batch) => runBatch(session, cache, batch, adapter !== undefined)
  return {
    spec,
    contextLength,
    newCache: () =>
      new KvCache(
        spec.layers.map(({attention: {kvHeads, headDim}}) => ({kvHeads, headDim})),
        contextLength,
      ),
    prefill: (cache, slot, tokens, {logits = 'last', adapted = true} = {}) =>
      run(cache, {first: slot, rows: [tokens], adapted: [adapted], logits}),
    step: (cache, tokens, adapted = tokens.map(() => true)) =>
      run(cache, {first: 0, rows: tokens.map((token) => [token]), adapted, logits: 'last'}),
    release: () => session.release(),
  }
}

/** New tokens of sequences in contiguous slots, the same number for each. */
interface Batch {
  first: number
  rows: readonly (readonly number[])[]
  adapted: readonly boolean[]
  logits: 'last' | 'all'
}

async function runBatch(session: Session, cache: KvCache, batch: Batch, withAdapter: boolean): Promise<Float32Array> {
  const {first, rows, adapted, logits} = batch
  const time = rows[0]?.length ?? 0
  const totals = rows.map((_, row) => cache.length(first + row) + time)
  for (const [row, total] of totals.entries()) cache.reserve(first + row, total)
  const logitRows = rows.flatMap((_, row) => (logits === 'all' ? range(row * time, time) : [(row + 1) * time - 1]))
  const positions = totals.flatMap((total) => range(total - time, time))
  const feeds: Record<string, Tensor> = {
    tokens: tensor(BigInt64Array.from(rows.flat(), BigInt), [rows.length, time]),
    positions: tensor(BigInt64Array.from(positions, BigInt), [rows.length, time]),
    last_index: tensor(
      Int32Array.from(totals, (total) => total - 1),
      [rows.length],
    ),
    total_length: tensor(Int32Array.of(Math.max(...totals)), [1]),
    logit_rows: tensor(BigInt64Array.from(logitRows, BigInt), [logitRows.length]),
  }
  if (withAdapter) {
    const mask = Float32Array.from(adapted, Number)
    const perRow = logitRows.map((row) => mask[Math.floor(row / time)] as number)
    feeds.adapter = tensor(mask, [rows.length, 1, 1])
    feeds.adapter_rows = tensor(Float32Array.from(perRow), [logitRows.length, 1])
  }
  const fetches: {logits: Tensor | null; [present: string]: Tensor | null} = {logits: null}
  for (const [i, {key, value}] of cache.tensors(first, rows.length).entries()) {
    feeds[`past_key.${i}`] = key
    feeds[`past_value.${i}`] = value
    fetches[`present_key.${i}`] = key
    fetches[`present_value.${i}`] = value
  }
  const outputs = await session.run(feeds, fetches)
  for (const row of rows.keys()) cache.advance(first + row, time)
  return outputs.logits.data as Float32Array
}

const range = (start: number, length: number) => Array.from({length}, (_, i) => start + i)
