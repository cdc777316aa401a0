import {nearest, SvcError} from '../../errors/index.js'
import {ggufParts} from '../gguf/gguf-file.js'

/** Files that any model may need in addition to the weights. */
export const smallFiles: ReadonlySet<string> = new Set([
  'config.json',
  'generation_config.json',
  'preprocessor_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'vocab.json',
  'merges.txt',
  'normalizer.json',
])

const numbered = /^model-\d+-of-(\d+)\.safetensors$/

/** The safetensors weights of a repository; empty if there are none, or not all shards. */
export function safetensorsOf(names: readonly string[]): string[] {
  if (names.includes('model.safetensors')) return ['model.safetensors']
  const shards = names.filter((name) => numbered.test(name))
  const count = Number(numbered.exec(shards[0] ?? '')?.[1])
  return shards.length === count ? [...shards, 'model.safetensors.index.json'] : []
}

/** The files of an ONNX export in the layout of Optimum: its graphs and their external data. */
const exportOf =
  (...graphs: string[]) =>
  (names: readonly string[]): string[] => {
    for (const folder of ['onnx/', '']) {
      const files = graphs.map((graph) => `${folder}${graph}.onnx`)
      if (!files.every((file) => names.includes(file))) continue
      const isData = (name: string, file: string) =>
        name.startsWith(file) && /^[._]data(_\d+)?$/.test(name.slice(file.length))
      return names.filter((name) => files.some((file) => name === file || isData(name, file)))
    }
    return []
  }

/** Kinds of weights in order of preference; the first complete one is used. Only CTC models have a single graph. */
const weights: readonly ((names: readonly string[]) => string[])[] = [
  exportOf('model'),
  safetensorsOf,
  exportOf('encoder_model', 'decoder_model_merged'),
  exportOf('encoder_model', 'decoder_model', 'decoder_with_past_model'),
  exportOf('encoder_model_int8', 'decoder_model_merged_int8'),
  exportOf('encoder_model_quantized', 'decoder_model_merged_quantized'),
  exportOf('model_int8'),
  exportOf('model_quantized'),
]

/** The files of a speech model in a repository; empty if there are no complete weights of a known kind. */
export function speechModelFiles(names: readonly string[]): string[] {
  const chosen = weights.map((kind) => kind(names)).find((files) => files.length > 0)
  return chosen === undefined ? [] : names.filter((name) => smallFiles.has(name) || chosen.includes(name))
}

/** Whether the files are sufficient to run a speech model: configuration, vocabulary and weights. */
export const isCompleteSpeechModel = (names: readonly string[]): boolean =>
  names.includes('config.json') &&
  (names.includes('tokenizer.json') || names.includes('vocab.json')) &&
  speechModelFiles(names).length > 0

/** Selects one file of a repository; of a split GGUF model, all parts by the first one. @throws hub_file_unknown */
export const oneFile =
  (id: string, file: string) =>
  (names: readonly string[]): string[] => {
    const parts = ggufParts(file)
    const missing = parts.find((part) => !names.includes(part))
    if (missing === undefined) return parts
    throw new SvcError('hub_file_unknown', {id, file: missing, suggestion: nearest(missing, names)})
  }
