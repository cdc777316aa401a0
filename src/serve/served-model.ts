/** What a server tells its clients of the model it serves. */
export interface ServedModel {
  name: string
  /** Name or path of the base model, where the run directory names one. */
  baseModel: string | undefined
  /** `model_type` of its configuration: llama, mistral, qwen2, qwen3. */
  family: string
  parameterCount: number
  /** Of weights and adapter. */
  bytes: number
  /** SHA-256 of the adapter, or of the description of the weights where there is none: 64 hexadecimal digits. */
  digest: string
  modifiedAt: Date
  /** dtype of the weights as they lie on disk: F32, F16, BF16. */
  dtype: string
  /** Positions that a request can use. */
  contextLength: number
  embeddingLength: number
  blockCount: number
  headCount: number
  headCountKv: number
  /** The chat template as it is written, where there is one. */
  template: string | undefined
  /** Texts of the tokens that end a turn. */
  stop: readonly string[]
  adapted: boolean
  /** Text of the licence, where the directory has one. */
  license: string | undefined
  /** Sampling that `generation_config.json` recommends, by the names used there. */
  recommended: Readonly<Record<string, number>>
  tensors: readonly {name: string; dtype: string; shape: readonly number[]}[]
}

/** `cpu`, or `cuda:0`: what the model runs on, whatever was asked for. */
export type EffectiveDevice = 'cpu' | `cuda:${number}`
