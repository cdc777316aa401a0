import type {Architecture} from './architectures.js'

/** Names of tensors outside the layers: those of llama.cpp, and those of transformers. */
const single: Readonly<Record<string, string>> = {
  'token_embd.weight': 'model.embed_tokens.weight',
  'output_norm.weight': 'model.norm.weight',
  'output.weight': 'lm_head.weight',
}

/** Names of the parts of a layer, as in Llama. */
const inLayer: Readonly<Record<string, string>> = {
  attn_norm: 'input_layernorm',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_output: 'self_attn.o_proj',
  attn_q_norm: 'self_attn.q_norm',
  attn_k_norm: 'self_attn.k_norm',
  ffn_norm: 'post_attention_layernorm',
  ffn_gate: 'mlp.gate_proj',
  ffn_up: 'mlp.up_proj',
  ffn_down: 'mlp.down_proj',
}

/** Divisors of the frequencies of the rotary embedding: of all contexts, or of short and of long ones. */
export const divisorTensors = {
  all: 'rope_freqs.weight',
  short: 'rope_factors_short.weight',
  long: 'rope_factors_long.weight',
} as const

/** The name in transformers of a tensor of a decoder; undefined for any other tensor. */
export function transformersName(name: string, {parts = {}, outside = {}}: Architecture): string | undefined {
  const own = Object.hasOwn(outside, name) ? outside : single
  if (Object.hasOwn(own, name)) return own[name]
  const [, layer, whole = ''] = /^blk\.(\d+)\.([\w.]+)$/.exec(name) ?? []
  if (Object.hasOwn(parts, whole)) return `model.layers.${layer}.${parts[whole]}`
  const [, part = '', end] = /^([\w.]+)\.(weight|bias)$/.exec(whole) ?? []
  const names = Object.hasOwn(parts, part) ? parts : inLayer
  return Object.hasOwn(names, part) ? `model.layers.${layer}.${names[part]}.${end}` : undefined
}

/** The name in llama.cpp of a tensor of transformers; that of all experts for the matrix of one. The inverse of the above. */
export function ggufTensorName(name: string, {parts = {}, outside = {}}: Architecture): string | undefined {
  const keyOf = (table: Readonly<Record<string, string>>, value: string) =>
    Object.keys(table).find((key) => table[key] === value)
  const outer = keyOf(outside, name) ?? keyOf(single, name)
  if (outer !== undefined) return outer
  const [, at, rest = ''] = /^model\.layers\.(\d+)\.(.+)$/.exec(name) ?? []
  const whole = keyOf(parts, rest)
  if (whole !== undefined) return `blk.${at}.${whole}`
  const [, layer, part = '', end] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? []
  const anyExpert = part.replace(/\.experts\.\d+\./, '.experts.*.')
  const own = keyOf(parts, anyExpert) ?? keyOf(inLayer, anyExpert)
  return own === undefined ? undefined : `blk.${layer}.${own}.${end}`
}

/** Whether llama.cpp permutes the rows of a tensor of a Llama model, by its name in transformers. */
export const isRotated = (name: string): boolean => /\.self_attn\.[qk]_proj\.(weight|bias)$/.test(name)

/** Whether a tensor, by its name in transformers, has the weights of a norm to which a model may add 1. */
export const isNorm = (name: string): boolean => /(?<!linear_attn\.)norm\.weight$/.test(name)

/** Whether a tensor, by its name in transformers, has logarithms of rates, of which llama.cpp has the negative rates. */
export const isDecayLog = (name: string): boolean => /\.A_log$/.test(name)

/** Whether a tensor, by its name in transformers, is a vector that llama.cpp may have as a matrix. */
export const isVector = (name: string): boolean => /\.mamba\.(D|norm\.weight)$/.test(name)

/** Whether a tensor, by its name in transformers, has the kernels of a convolution with a kernel for each channel. */
export const isKernel = (name: string): boolean => /\.(conv|conv1d)\.weight$/.test(name)
