import type {ErrorRecord} from '../errors/index.js'
import type {Abilities} from '../llm/index.js'
import type {ModelDefaults} from '../weights/index.js'

/** Description of a served model for clients. */
export interface ServedModel {
  name: string
  /** The directories of its files. */
  folders: readonly string[]
  /** Name or path of the base model, if the run directory contains one. */
  baseModel: string | undefined
  /** `model_type` of its configuration: llama, mistral, qwen2, qwen3. */
  family: string
  parameterCount: number
  /** Total size of the weights and the adapter. */
  bytes: number
  /** Approximate memory when it is loaded. */
  memoryBytes: number
  /** Length of the longest token, bytes. */
  longestToken: number
  /** Whether its directory is the result of a training run. */
  trained: boolean
  /** SHA-256 of the adapter or, without one, of the names, sizes and times of the shards: 64 hexadecimal digits. */
  digest: string
  modifiedAt: Date
  /** Format of the files with the weights: `safetensors` or `gguf`. */
  format: string
  /** dtype of the weights on disk: F32, F16, BF16, or a type of GGUF files. */
  dtype: string
  /** Maximum tokens of a request and its reply. */
  contextLength: number
  embeddingLength: number
  blockCount: number
  headCount: number
  headCountKv: number
  /** Source of the chat template, if there is one. */
  template: string | undefined
  /** Why the chat template cannot be used; the chat routes then answer with this error. */
  templateError: ErrorRecord | undefined
  /** What not every model can do. */
  abilities: Abilities
  /** How tools are written, if the chat template does not write them. */
  toolNote: string | undefined
  /** Texts of the tokens that end a turn. */
  stop: readonly string[]
  adapted: boolean
  /** Text of the licence file, if there is one. */
  license: string | undefined
  /** Penalty of `generation_config.json` for tokens of prompt and reply; 1 is none. */
  repetitionPenalty: number
  /** What requests get unless they say otherwise: as the user has chosen, then as the model declares. */
  defaults: ModelDefaults
  tensors: readonly {name: string; dtype: string; shape: readonly number[]}[]
}

/** Device that the model actually runs on: `cpu` or `cuda:0`. */
export type EffectiveDevice = 'cpu' | `cuda:${number}`

/** A model in the OpenAI API. */
export interface ModelEntry {
  id: string
  object: string
  /** Unix time, s. */
  created: number
  owned_by: string
}
