import './no-telemetry.js'
import {env, InferenceSession, Tensor as OrtTensor} from 'onnxruntime-node'

// The runtime prints an error to standard error before it throws the same text; it takes this level with its first session.
env.logLevel = 'fatal'

export type Tensor = OrtTensor

type TensorData = Float32Array | BigInt64Array | Int32Array | Uint8Array | Int8Array

const typeOf = (data: TensorData) => {
  if (data instanceof Float32Array) return 'float32'
  if (data instanceof BigInt64Array) return 'int64'
  if (data instanceof Int32Array) return 'int32'
  return data instanceof Uint8Array ? 'uint8' : 'int8'
}

/** A tensor over the given memory; nothing is copied. */
export const tensor = (data: TensorData, dims: readonly number[]): Tensor => new OrtTensor(typeOf(data), data, dims)

/** A tensor of truth values. */
export const booleans = (values: readonly boolean[], dims: readonly number[]): Tensor =>
  new OrtTensor('bool', Uint8Array.from(values, Number), dims)

/** What a session computes on. */
export type Device = 'cpu' | 'cuda'

export interface SessionOptions {
  /** The CPU where it is left out. */
  device?: Device
  /** Folder that external initialisers are relative to: a real path, since the runtime follows no link out of it. */
  externalFolder?: string
  /** Threads that compute one operator. */
  threads: number
  /**
   * Whether memory is laid out once per shape of the inputs, which is the default. Where shapes change with every run
   * it costs memory and gains nothing.
   */
  memoryPattern?: boolean
}

/** An input or output of a graph. */
export interface TensorInfo {
  name: string
  /** Such as `float32`. */
  type: string
  /** A dimension that the graph leaves open is a name, or -1. */
  dims: readonly (number | string)[]
}

/** A graph, loaded and ready. */
export interface Session {
  readonly inputs: readonly TensorInfo[]
  readonly outputs: readonly TensorInfo[]
  /**
   * Runs the graph. Outputs that are given as tensors are written in place; `null` lets the runtime make one.
   * The runtime computes on its own threads but blocks the thread that calls.
   */
  run<F extends Readonly<Record<string, Tensor | null>>>(
    feeds: Readonly<Record<string, Tensor>>,
    fetches: F,
  ): Promise<{[K in keyof F]: Tensor}>
  release(): Promise<void>
}

/** Opens a session on a serialised model, or on the file that holds one. */
export async function openSession(
  model: Uint8Array | string,
  {externalFolder, threads, device = 'cpu', memoryPattern = true}: SessionOptions,
): Promise<Session> {
  const options: InferenceSession.SessionOptions = {
    executionProviders: device === 'cuda' ? ['cuda', 'cpu'] : ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    enableMemPattern: memoryPattern,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: 4,
    ...(externalFolder === undefined
      ? {}
      : {extra: {session: {model_external_initializers_file_folder_path: externalFolder}}}),
  }
  const session = await (typeof model === 'string'
    ? InferenceSession.create(model, options)
    : InferenceSession.create(model, options))
  return {
    inputs: session.inputMetadata.map(infoOf),
    outputs: session.outputMetadata.map(infoOf),
    run: <F extends Readonly<Record<string, Tensor | null>>>(feeds: Readonly<Record<string, Tensor>>, fetches: F) =>
      session.run(feeds, fetches) as unknown as Promise<{[K in keyof F]: Tensor}>,
    release: () => session.release(),
  }
}

function infoOf(metadata: InferenceSession.ValueMetadata): TensorInfo {
  return metadata.isTensor
    ? {name: metadata.name, type: metadata.type, dims: metadata.shape}
    : {name: metadata.name, type: 'sequence', dims: []}
}
