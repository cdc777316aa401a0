import type {Device} from '../onnx/index.js'
import type {QuantizeProgress, RunLookup} from '../weights/index.js'
import type {AdapterSource} from './adapters/resident-adapters.js'
import type {Precision} from './precision.js'

/** How a model is loaded. */
export interface LoadOptions
  extends Pick<RunLookup, 'base' | 'ignoreEvalGate' | 'baseOnly' | 'ignoreConfigKeys' | 'cacheFolder'> {
  /** Compute threads; 0 is one per physical core. */
  threads: number
  /** Context length in tokens, limited by that of the model; 0 is the model's, up to 8192. */
  numCtx: number
  /** Default: `cpu`. */
  device?: Device
  /** Default: f32. See `choosePrecision` for `auto`. */
  precision?: Precision | 'auto'
  /** Maximum number of concurrent requests. */
  slots?: number
  /** Maximum number of waiting requests. */
  queueLimit?: number
  /** Maximum size of the saved beginnings of prompts, bytes; default 0: none. */
  prefixBytes?: number
  /** Whether repeated text is drafted and verified in one run; default false. */
  promptLookup?: boolean
  /** File with a chat template that replaces the model's; `none` disables it. */
  chatTemplate?: string | undefined
  /** Called while weights are quantised, which happens when the model is first loaded with a precision. */
  onProgress?: ((progress: QuantizeProgress) => void) | undefined
  /** Maximum size of files with beginnings of prompts, bytes; default 0: none. They require `prefixBytes`. */
  prefixFileBytes?: number
  /** Adapters that requests name; default: none but that of a run directory. */
  adapters?: AdapterOptions
}

export interface AdapterOptions {
  /** Memory for adapters, bytes. Copies of those that a batch mixes take up to as much. */
  maxBytes: number
  /** Those that are loaded with the model and stay in memory. */
  pinned: readonly AdapterSource[]
}
