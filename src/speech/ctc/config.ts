import {SvcError} from '../../errors/index.js'

/** Input of the encoder. */
export type CtcFeatures =
  /**
   * Log-mel features `[bins, frames]`, one frame per 10 ms; see `logMel`. `padSec` of silence is added on both sides,
   * for models trained on words with pauses.
   */
  | {type: 'log_mel'; bins: number; padSec: number}
  /** Samples, normalised to mean 0 and variance 1 if `normalize` is set, as for wav2vec2. */
  | {type: 'waveform'; normalize: boolean}

export type Activation = 'none' | 'relu' | 'gelu' | 'silu' | 'tanh'

/** A layer of an encoder; `name` is the prefix of its tensors. Sizes that follow from the input are omitted. */
export type CtcLayer =
  /** `NAME.weight` `[channels, in / groups, kernel]`, `NAME.bias` `[channels]`; padded to keep `frames / stride`. */
  | {
      type: 'conv1d'
      name: string
      channels: number
      kernel: number
      stride: number
      dilation: number
      groups: number
      activation: Activation
    }
  /** Statistics of training: `NAME.weight`, `.bias`, `.running_mean`, `.running_var`, each `[channels]`. */
  | {type: 'batch_norm'; name: string; epsilon: number; activation: Activation}
  /** Layer normalisation over the channels of each frame: `NAME.weight`, `NAME.bias`, each `[channels]`. */
  | {type: 'layer_norm'; name: string; epsilon: number; activation: Activation}
  /** `NAME.weight_ih_l0`, `.weight_hh_l0`, `.bias_ih_l0`, `.bias_hh_l0`, and `..._reverse`, as PyTorch lays them out. */
  | {type: 'gru'; name: string; hidden: number; bidirectional: boolean}
  /** `NAME.weight` `[channels, in]`, `NAME.bias` `[channels]`. */
  | {type: 'linear'; name: string; channels: number; activation: Activation}
  /** Residual connection: adds the output of its layers to their input; both have the same shape. */
  | {type: 'residual'; layers: readonly CtcLayer[]}

export interface CtcConfig {
  /** Path of the configuration, for errors. */
  file: string
  languages: readonly string[]
  features: CtcFeatures
  /** Layers that end with the logits, or an ONNX file of the complete encoder. */
  encoder: {layers: readonly CtcLayer[]} | {file: string}
  /** File with the token ids. */
  vocabularyFile: string
  blankToken: string
  wordDelimiterToken: string
  /** Words of the model; other words are only recognised if the audio is clear. */
  words: CtcWords | undefined
}

export interface CtcWords {
  /** File of words, one per line, most frequent first. */
  file: string
  /** Weight of frequent words; see `WordList`. */
  weight: number
  unknown: number
  /** File of frequent word pairs, two words per line; optional. */
  pairsFile: string | undefined
  /** Bonus of a word pair. */
  pair: number
}

type Json = Readonly<Record<string, unknown>>

/**
 * Reads the description of a CTC model, `config.json` with `model_type` `ctc`.
 *
 * @example
 *   {"model_type": "ctc", "languages": ["en"], "features": {"type": "log_mel", "bins": 80},
 *    "layers": [{"type": "conv1d", "name": "conv1", "channels": 192, "kernel": 5, "stride": 2, "activation": "gelu"},
 *               {"type": "gru", "name": "gru1", "hidden": 192, "bidirectional": true},
 *               {"type": "linear", "name": "head", "channels": 30}]}
 * @throws model_file_invalid
 */
export function readCtcConfig(json: Json, file: string): CtcConfig {
  const read = new Reader(json, file, '')
  const encoder =
    json.encoder_file === undefined ? {layers: read.layers('layers')} : {file: read.fileName('encoder_file', '')}
  return {
    file,
    languages: read.texts('languages', ['en']),
    features: readFeatures(read.child('features')),
    encoder,
    vocabularyFile: read.fileName('vocabulary_file', 'vocab.json'),
    blankToken: read.text('blank_token', '<pad>'),
    wordDelimiterToken: read.text('word_delimiter_token', '|'),
    words: json.words === undefined ? undefined : readWords(read.child('words')),
  }
}

const readWords = (read: Reader): CtcWords => ({
  file: read.fileName('file', 'words.txt'),
  weight: read.number('weight', 0.3),
  unknown: read.number('unknown', -2),
  pairsFile: read.has('pairs_file') ? read.fileName('pairs_file', '') : undefined,
  pair: read.number('pair', 1),
})

function readFeatures(read: Reader): CtcFeatures {
  const type = read.choice('type', ['log_mel', 'waveform'] as const)
  if (type === 'log_mel') return {type, bins: read.size('bins', 80), padSec: readPadSec(read)}
  return {type, normalize: read.flag('normalize', true)}
}

const maxPadSec = 5

function readPadSec(read: Reader): number {
  const seconds = read.number('pad_sec', 0)
  return seconds >= 0 && seconds <= maxPadSec ? seconds : read.fail('pad_sec', `0 to ${maxPadSec}`)
}

const activations = ['none', 'relu', 'gelu', 'silu', 'tanh'] as const
const layerTypes = ['conv1d', 'batch_norm', 'layer_norm', 'gru', 'linear', 'residual'] as const

const readLayer: {[T in CtcLayer['type']]: (read: Reader) => Extract<CtcLayer, {type: T}>} = {
  conv1d: (read) => ({
    type: 'conv1d',
    name: read.text('name'),
    channels: read.size('channels'),
    kernel: read.size('kernel'),
    stride: read.size('stride', 1),
    dilation: read.size('dilation', 1),
    groups: read.size('groups', 1),
    activation: read.choice('activation', activations, 'none'),
  }),
  batch_norm: (read) => ({type: 'batch_norm', ...readNorm(read)}),
  layer_norm: (read) => ({type: 'layer_norm', ...readNorm(read)}),
  gru: (read) => ({
    type: 'gru',
    name: read.text('name'),
    hidden: read.size('hidden'),
    bidirectional: read.flag('bidirectional', false),
  }),
  linear: (read) => ({
    type: 'linear',
    name: read.text('name'),
    channels: read.size('channels'),
    activation: read.choice('activation', activations, 'none'),
  }),
  residual: (read) => ({type: 'residual', layers: read.layers('layers')}),
}

const readNorm = (read: Reader) => ({
  name: read.text('name'),
  epsilon: read.number('epsilon', 1e-5),
  activation: read.choice('activation', activations, 'none'),
})

/** Maximum number of layers and maximum nesting. */
const maxLayers = 500
const deepest = 8

/** Reads the keys of an object and checks them. */
class Reader {
  readonly #json: Json
  readonly #file: string
  readonly #place: string

  constructor(json: Json, file: string, place: string) {
    this.#json = json
    this.#file = file
    this.#place = place
  }

  has(key: string): boolean {
    return this.#json[key] !== undefined
  }

  text(key: string, fallback?: string): string {
    const value = this.#json[key] ?? fallback
    return typeof value === 'string' && value !== '' ? value : this.fail(key, 'a non-empty string')
  }

  texts(key: string, fallback: readonly string[]): readonly string[] {
    const value = this.#json[key] ?? fallback
    const sound = Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')
    return sound ? value : this.fail(key, 'a list of strings')
  }

  /** Reads a file name next to the configuration. */
  fileName(key: string, fallback: string): string {
    const name = this.text(key, fallback)
    return /^[\w.-]+(\/[\w.-]+)*$/.test(name) && !name.split('/').includes('..') ? name : this.fail(key, 'a file name')
  }

  size(key: string, fallback?: number): number {
    const value = this.#json[key] ?? fallback
    const sound = Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= 1_000_000
    return sound ? (value as number) : this.fail(key, 'a positive whole number')
  }

  number(key: string, fallback: number): number {
    const value = this.#json[key] ?? fallback
    return typeof value === 'number' && Number.isFinite(value) ? value : this.fail(key, 'a number')
  }

  flag(key: string, fallback: boolean): boolean {
    const value = this.#json[key] ?? fallback
    return typeof value === 'boolean' ? value : this.fail(key, 'true or false')
  }

  choice<const T extends string>(key: string, choices: readonly T[], fallback?: T): T {
    const value = (this.#json[key] ?? fallback) as T
    return choices.includes(value) ? value : this.fail(key, `one of ${choices.join(', ')}`)
  }

  child(key: string): Reader {
    const value = this.#json[key]
    const sound = typeof value === 'object' && value !== null
    return sound ? new Reader(value as Json, this.#file, this.#at(key)) : this.fail(key, 'an object')
  }

  layers(key: string): CtcLayer[] {
    const value = this.#json[key]
    if (!Array.isArray(value) || value.length === 0 || value.length > maxLayers)
      return this.fail(key, 'a list of layers')
    if (this.#at(key).split('layers').length > deepest) return this.fail(key, 'nested less deeply')
    return value.map((row, i) => {
      const read = new Reader((row ?? {}) as Json, this.#file, `${this.#at(key)}[${i}]`)
      return readLayer[read.choice('type', layerTypes)](read)
    })
  }

  #at(key: string): string {
    return this.#place === '' ? key : `${this.#place}.${key}`
  }

  fail(key: string, wanted: string): never {
    throw new SvcError('model_file_invalid', {file: this.#file, reason: `${this.#at(key)} must be ${wanted}`})
  }
}
