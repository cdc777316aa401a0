import './environment.js'
import {env, InferenceSession, Tensor as OrtTensor} from 'onnxruntime-node'
import {inPlaceOutput} from './graph.js'

// Otherwise the runtime prints each error to stderr before it throws it. The level takes effect with the first session.
env.logLevel = 'fatal'

export type Tensor = OrtTensor

export const runtimeVersion: string = env.versions.common

type TensorData = Float32Array | BigInt64Array | Int32Array | Uint8Array | Int8Array

const typeOf = (data: TensorData) => {
  if (data instanceof Float32Array) return 'float32'
  if (data instanceof BigInt64Array) return 'int64'
  if (data instanceof Int32Array) return 'int32'
  return data instanceof Uint8Array ? 'uint8' : 'int8'
}

/** A tensor that shares the memory of `data`. */
export const tensor = (data: TensorData, dims: readonly number[]): Tensor => new OrtTensor(typeOf(data), data, dims)

/** A boolean tensor. */
export const booleans = (values: readonly boolean[], dims: readonly number[]): Tensor =>
  new OrtTensor('bool', Uint8Array.from(values, Number), dims)

/** Device that a session runs on. */
export type Device = 'cpu' | 'cuda'

export interface SessionOptions {
  /** Default: `cpu`. */
  device?: Device
  /** Folder of external initialisers: a real path, because the runtime rejects links that lead out of it. */
  externalFolder?: string
  /** Threads within one operator. */
  threads: number
  /**
   * Whether the memory plan is cached per input shape; default true. It wastes memory if shapes change with every run.
   */
  memoryPattern?: boolean
  /**
   * Whether idle threads wait actively, default true: the next of many runs starts sooner, but the time of the processor is
   * spent even if there is none.
   */
  spins?: boolean
}

/** An input or output of a graph. */
export interface TensorInfo {
  name: string
  /** Such as `float32`. */
  type: string
  /** A dynamic dimension is a name, or -1. */
  dims: readonly (number | string)[]
}

/** A loaded graph. */
export interface OnnxSession {
  readonly inputs: readonly TensorInfo[]
  readonly outputs: readonly TensorInfo[]
  /**
   * Runs the graph. An output passed as a tensor is written in place; `null` lets the runtime allocate it.
   * The runtime computes on its own threads but blocks the calling thread.
   */
  run<F extends Readonly<Record<string, Tensor | null>>>(
    feeds: Readonly<Record<string, Tensor>>,
    fetches: F,
  ): Promise<{[K in keyof F]: Tensor}>
  /**
   * Runs a graph that was built with `inPlace`, and writes its outputs to the given tensors.
   *
   * After a run, the binding copies each output to a new tensor, also those that the runtime wrote in place. For a KV
   * cache, that takes longer than the run. The binding copies in the order of the graph and rejects sequences, so that
   * it copies nothing if the first output is a sequence. A binding that accepts sequences makes this slower, not wrong.
   */
  runInPlace(feeds: Readonly<Record<string, Tensor>>, outputs: Readonly<Record<string, Tensor>>): Promise<void>
  release(): Promise<void>
}

/** What the binding throws for an output that is a sequence, after the run. */
const sequenceRejected = 'Non tensor type is temporarily not supported.'

/** Opens a session for a serialised model or a model file. */
export async function openSession(
  model: Uint8Array | string,
  {externalFolder, threads, device = 'cpu', memoryPattern = true, spins = true}: SessionOptions,
): Promise<OnnxSession> {
  const options: InferenceSession.SessionOptions = {
    executionProviders: device === 'cuda' ? ['cuda', 'cpu'] : ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    enableMemPattern: memoryPattern,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: 4,
    extra: {
      session: {
        ...(externalFolder === undefined ? {} : {model_external_initializers_file_folder_path: externalFolder}),
        ...(spins ? {} : {intra_op: {allow_spinning: '0'}}),
      },
    },
  }
  const session = await (typeof model === 'string'
    ? InferenceSession.create(model, options)
    : InferenceSession.create(model, options))
  return {
    inputs: session.inputMetadata.map(infoOf),
    outputs: session.outputMetadata.map(infoOf),
    run: <F extends Readonly<Record<string, Tensor | null>>>(feeds: Readonly<Record<string, Tensor>>, fetches: F) =>
      session.run(feeds, fetches) as unknown as Promise<{[K in keyof F]: Tensor}>,
    async runInPlace(feeds, outputs) {
      try {
        await session.run(feeds, {...outputs, [inPlaceOutput]: null})
      } catch (error) {
        if ((error as Error).message !== sequenceRejected) throw error
      }
    },
    release: () => session.release(),
  }
}

function infoOf(metadata: InferenceSession.ValueMetadata): TensorInfo {
  return metadata.isTensor
    ? {name: metadata.name, type: metadata.type, dims: metadata.shape}
    : {name: metadata.name, type: 'sequence', dims: []}
}
