import {type Device, type OnnxSession, openSession, type Tensor, tensor} from '../onnx/index.js'
import {type TopLogits, topLogits} from '../sampling/index.js'
import type {TensorMap} from '../weights/index.js'
import {AdapterPool, type PooledAdapter} from './adapters/adapter-pool.js'
import {buildDecoderGraph, topCount} from './decoder-graph.js'
import {SequenceCache} from './sequence-cache.js'
import type {DecoderSpec} from './spec.js'

export interface DecoderOptions {
  contextLength: number
  threads: number
  /** Whether sequences can have adapters; without, the graph has no parts for them. */
  adapters?: boolean
  /** Memory for copies of the weights of adapters that a batch mixes, bytes; default: not limited. */
  adapterCopyBytes?: number | undefined
  device?: Device
}

export interface Decoder {
  readonly spec: DecoderSpec
  readonly contextLength: number
  /** The adapters that sequences can have. */
  readonly adapters: AdapterPool | undefined
  /** Creates an empty cache for this decoder. */
  newCache(): SequenceCache
  /** Appends tokens to one sequence. */
  prefill(
    cache: SequenceCache,
    slot: number,
    tokens: readonly number[],
    options?: PrefillOptions,
  ): Promise<Prediction[]>
  /** Appends one token to each of the first sequences of the cache, in one run if their adapters fit into the memory. */
  step(cache: SequenceCache, tokens: readonly number[], options?: StepOptions): Promise<Prediction[]>
  release(): Promise<void>
}

export interface PrefillOptions {
  /** Positions to predict the next token of; default: `last`. */
  predict?: 'last' | 'all'
  /** That of the sequence; default: none. */
  adapter?: PooledAdapter | undefined
  /** Whether the logits of all tokens are returned; default true. */
  logits?: boolean
}

export interface StepOptions {
  /** Those of the sequences; default: none. */
  adapters?: readonly (PooledAdapter | undefined)[]
  /** Whether the logits of all tokens are returned; default true. */
  logits?: boolean
}

/** Prediction of the token after one position. */
export interface Prediction {
  top: TopLogits
  /** `[vocabulary]` if asked for, otherwise empty. With a quantised head, those of the most likely tokens are less exact. */
  logits: Float32Array
}

/**
 * Builds the graph of a decoder over its shards and opens a session.
 * @throws tensor_missing, tensor_shape, tensor_dtype
 */
export async function openDecoder(
  spec: DecoderSpec,
  tensors: TensorMap,
  {contextLength, threads, adapters: withAdapters = false, adapterCopyBytes, device = 'cpu'}: DecoderOptions,
): Promise<Decoder> {
  const {model, externalFolder} = buildDecoderGraph(spec, tensors, contextLength, withAdapters)
  const session = await openSession(model, {externalFolder, threads, device})
  const pool = withAdapters ? new AdapterPool(spec, tensors, adapterCopyBytes) : undefined
  const run = (cache: SequenceCache, batch: Batch) => runBatch(session, spec, cache, batch, pool)
  return {
    spec,
    contextLength,
    adapters: pool,
    newCache: () => new SequenceCache(spec, contextLength),
    prefill: (cache, slot, tokens, {predict = 'last', adapter, logits = true} = {}) =>
      run(cache, {first: slot, rows: [tokens], adapters: [adapter], predict, logits}),
    async step(cache, tokens, {adapters = tokens.map(() => undefined), logits = true} = {}) {
      const predictions: Prediction[] = []
      for (const part of pool?.partsOf(adapters) ?? [adapters]) {
        const first = predictions.length
        const rows = tokens.slice(first, first + part.length).map((token) => [token])
        predictions.push(...(await run(cache, {first, rows, adapters: part, predict: 'last', logits})))
      }
      return predictions
    },
    release: () => session.release(),
  }
}

/** New tokens of sequences in contiguous slots, the same number for each. */
interface Batch {
  first: number
  rows: readonly (readonly number[])[]
  adapters: readonly (PooledAdapter | undefined)[]
  predict: 'last' | 'all'
  logits: boolean
}

async function runBatch(
  session: OnnxSession,
  spec: DecoderSpec,
  cache: SequenceCache,
  batch: Batch,
  pool: AdapterPool | undefined,
): Promise<Prediction[]> {
  const {first, rows, adapters, predict, logits} = batch
  const time = rows[0]?.length ?? 0
  const totals = rows.map((_, row) => cache.length(first + row) + time)
  for (const [row, total] of totals.entries()) cache.reserve(first + row, total)
  // At least one, because kernels divide by the number of rows.
  const predicted = predict === 'all' ? time : 1
  const wanted = rows.flatMap((_, row) => range((row + 1) * time - predicted, predicted))
  // The kernels of a quantised head round a single row differently from several.
  const isSingle = wanted.length === 1
  const logitRows = isSingle ? [...wanted, ...wanted] : wanted
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
    ...pool?.feeds(adapters, isSingle),
  }
  const {vocabSize} = spec
  const [count, rowCount] = [topCount(spec), logitRows.length]
  const top = {ids: new BigInt64Array(rowCount * count), logits: new Float32Array(rowCount * count)}
  const logTotals = new Float32Array(rowCount)
  const all = new Float32Array(logits ? rowCount * vocabSize : 0)
  const outputs: Record<string, Tensor> = {
    top_ids: tensor(top.ids, [rowCount, count]),
    top_logits: tensor(top.logits, [rowCount, count]),
    log_total: tensor(logTotals, [rowCount, 1]),
    ...(logits ? {logits: tensor(all, [rowCount, vocabSize])} : {}),
  }
  for (const {name, tensor: kept, isInput} of cache.tensors(first, rows.length)) {
    if (isInput) feeds[`past_${name}`] = kept
    outputs[`present_${name}`] = kept
  }
  await session.runInPlace(feeds, outputs)
  for (const [row, total] of totals.entries()) cache.advance(first + row, total)
  return wanted.map((_, row) => {
    const [start, end] = [row * count, (row + 1) * count]
    return {
      top: topLogits(top.ids.subarray(start, end), top.logits.subarray(start, end), logTotals[row] as number),
      logits: logits ? all.subarray(row * vocabSize, (row + 1) * vocabSize) : all,
    }
  })
}

const range = (start: number, length: number) => Array.from({length}, (_, i) => start + i)
