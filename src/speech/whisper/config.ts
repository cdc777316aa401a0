import {SvcError} from '../../errors/index.js'

/** The shape of a Whisper model, from its `config.json`. */
export interface WhisperConfig {
  /** Path of the configuration, for errors. */
  file: string
  hiddenSize: number
  encoder: {layers: number; heads: number; ffnSize: number}
  decoder: {layers: number; heads: number; ffnSize: number}
  vocabSize: number
  melBins: number
  /** Encoder positions of a full window, 20 ms each. */
  audioPositions: number
  /** Decoder positions, for prompt and text together. */
  textPositions: number
}

/** Mel frames per encoder position: the second convolution halves the rate. */
export const framesPerPosition = 2

/**
 * Reads the shape of the network.
 * @throws model_file_invalid
 */
export function readWhisperConfig(json: Readonly<Record<string, unknown>>, file: string): WhisperConfig {
  const size = (key: string): number => {
    const value = json[key]
    if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > 1_000_000)
      throw new SvcError('model_file_invalid', {file, reason: `${key} must be a positive integer`})
    return value as number
  }
  const hiddenSize = size('d_model')
  const half = (side: 'encoder' | 'decoder') => {
    const heads = size(`${side}_attention_heads`)
    if (hiddenSize % heads !== 0)
      throw new SvcError('model_file_invalid', {
        file,
        reason: `d_model ${hiddenSize} is not divisible by ${heads} heads`,
      })
    return {layers: size(`${side}_layers`), heads, ffnSize: size(`${side}_ffn_dim`)}
  }
  const activation = json.activation_function ?? 'gelu'
  if (activation !== 'gelu')
    throw new SvcError('model_config_unsupported', {
      file,
      key: 'activation_function',
      value: String(activation),
      isKnown: true,
    })
  return {
    file,
    hiddenSize,
    encoder: half('encoder'),
    decoder: half('decoder'),
    vocabSize: size('vocab_size'),
    melBins: size('num_mel_bins'),
    audioPositions: size('max_source_positions'),
    textPositions: size('max_target_positions'),
  }
}
