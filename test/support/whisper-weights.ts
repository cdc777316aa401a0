import {randomFloats} from './random-floats.js'

/** The tensors of a Whisper model, by their Hugging Face names. */
export type WhisperWeights = ReadonlyMap<string, {shape: readonly number[]; data: Float32Array}>

export interface WhisperShape {
  size: number
  layers: number
  heads: number
  vocabulary: number
  bins: number
  /** Positions of the encoder and of the decoder. */
  audio: number
  text: number
}

/** A minimal Whisper: a window of two seconds and ten words. */
export const microShape: WhisperShape = {
  size: 32,
  layers: 2,
  heads: 2,
  vocabulary: 16,
  bins: 80,
  audio: 100,
  text: 16,
}

export const whisperConfig = ({size, layers, heads, vocabulary, bins, audio, text}: WhisperShape) => ({
  model_type: 'whisper',
  d_model: size,
  encoder_layers: layers,
  decoder_layers: layers,
  encoder_attention_heads: heads,
  decoder_attention_heads: heads,
  encoder_ffn_dim: 4 * size,
  decoder_ffn_dim: 4 * size,
  vocab_size: vocabulary,
  num_mel_bins: bins,
  max_source_positions: audio,
  max_target_positions: text,
})

/** Seeded random weights large enough for signals to pass, so that the output is meaningless but deterministic. */
export function randomWhisper(
  {size, layers, vocabulary, bins, audio, text}: WhisperShape,
  seed = 1,
  random = randomFloats(seed),
): WhisperWeights {
  const weights = new Map<string, {shape: readonly number[]; data: Float32Array}>()
  const add = (name: string, shape: readonly number[], scale: number, base = 0) => {
    const count = shape.reduce((product, dim) => product * dim, 1)
    weights.set(name, {shape, data: random(count).map((x) => base + scale * x)})
  }
  const linear = (name: string, out: number, input: number, bias = true) => {
    add(`${name}.weight`, [out, input], 1.5 / Math.sqrt(input))
    if (bias) add(`${name}.bias`, [out], 0.05)
  }
  const norm = (name: string) => {
    add(`${name}.weight`, [size], 0.1, 1)
    add(`${name}.bias`, [size], 0.05)
  }
  const attention = (name: string) => {
    for (const projection of ['q_proj', 'k_proj', 'v_proj', 'out_proj'])
      linear(`${name}.${projection}`, size, size, projection !== 'k_proj')
  }
  const layer = (name: string) => {
    attention(`${name}.self_attn`)
    norm(`${name}.self_attn_layer_norm`)
    linear(`${name}.fc1`, 4 * size, size)
    linear(`${name}.fc2`, size, 4 * size)
    norm(`${name}.final_layer_norm`)
  }
  add('model.encoder.conv1.weight', [size, bins, 3], 0.1)
  add('model.encoder.conv1.bias', [size], 0.05)
  add('model.encoder.conv2.weight', [size, size, 3], 0.15)
  add('model.encoder.conv2.bias', [size], 0.05)
  add('model.encoder.embed_positions.weight', [audio, size], 0.5)
  norm('model.encoder.layer_norm')
  add('model.decoder.embed_tokens.weight', [vocabulary, size], 0.3)
  add('model.decoder.embed_positions.weight', [text, size], 0.1)
  norm('model.decoder.layer_norm')
  for (let i = 0; i < layers; i++) {
    layer(`model.encoder.layers.${i}`)
    layer(`model.decoder.layers.${i}`)
    attention(`model.decoder.layers.${i}.encoder_attn`)
    norm(`model.decoder.layers.${i}.encoder_attn_layer_norm`)
  }
  return weights
}
