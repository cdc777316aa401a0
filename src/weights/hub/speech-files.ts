/** Files beside the weights that a speech model may need. */
const small = new Set([
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

/** Weights in the order they are preferred: the first kind of which there are files is taken. */
const weights: readonly RegExp[] = [
  /^model\.safetensors$/,
  /^model(-\d+-of-\d+)?\.safetensors(\.index\.json)?$/,
  /^onnx\/(encoder_model|decoder_model_merged|decoder_model|decoder_with_past_model|model)\.onnx(_data)?$/,
  /^onnx\/(encoder_model|decoder_model_merged|model)_(int8|quantized)\.onnx(_data)?$/,
  /^ggml-.*\.bin$/,
]

/** The files of a repository that make up a speech model; empty where it has no weights of a known kind. */
export function speechModelFiles(names: readonly string[]): string[] {
  const kind = weights.find((pattern) => names.some((name) => pattern.test(name)))
  if (kind === undefined) return []
  return names.filter((name) => small.has(name) || kind.test(name))
}
