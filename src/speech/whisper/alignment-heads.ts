import type {WhisperConfig} from './config.js'

type Head = readonly [layer: number, head: number]

/**
 * Alignment heads of the published models, from openai/whisper. A model is identified by its numbers of encoder and
 * decoder layers, and by whether it is multilingual.
 */
const published: readonly {
  layers: readonly [encoder: number, decoder: number]
  multilingual: boolean
  mels?: number
  heads: string
}[] = [
  {layers: [4, 4], multilingual: false, heads: '1,0 2,0 2,5 3,0 3,1 3,2 3,3 3,4'},
  {layers: [4, 4], multilingual: true, heads: '2,2 3,0 3,2 3,3 3,4 3,5'},
  {layers: [6, 6], multilingual: false, heads: '3,3 4,7 5,1 5,5 5,7'},
  {layers: [6, 6], multilingual: true, heads: '3,1 4,2 4,3 4,7 5,1 5,2 5,4 5,6'},
  {
    layers: [12, 12],
    multilingual: false,
    heads: '6,6 7,0 7,3 7,8 8,2 8,5 8,7 9,0 9,4 9,8 9,10 10,0 10,1 10,2 10,3 10,6 10,11 11,2 11,4',
  },
  {layers: [12, 12], multilingual: true, heads: '5,3 5,9 8,0 8,4 8,7 8,8 9,0 9,7 9,9 10,5'},
  {
    layers: [24, 24],
    multilingual: false,
    heads: '11,4 14,1 14,12 14,14 15,4 16,0 16,4 16,9 17,12 17,14 18,7 18,10 18,15 20,0 20,3 20,9 20,14 21,12',
  },
  {layers: [24, 24], multilingual: true, heads: '13,15 15,4 15,15 16,1 20,0 23,4'},
  {
    layers: [32, 32],
    multilingual: true,
    mels: 80,
    heads:
      '10,12 13,17 16,11 16,12 16,13 17,15 17,16 18,4 18,11 18,19 19,11 21,2 21,3 22,3 22,9 22,12 23,5 23,7 23,13 25,5 26,1 26,12 27,15',
  },
  {
    layers: [32, 32],
    multilingual: true,
    mels: 128,
    heads: '7,0 10,17 12,18 13,12 16,1 17,14 19,11 21,4 24,1 25,6',
  },
  {layers: [32, 4], multilingual: true, heads: '2,4 2,11 3,3 3,6 3,11 3,14'},
]

/**
 * The heads for word timestamps: those in the generation configuration, those of the published model with this shape, or
 * all heads of the upper half of the decoder.
 */
export function alignmentHeads(
  {encoder, decoder, melBins}: WhisperConfig,
  generationConfig: Readonly<Record<string, unknown>>,
  multilingual: boolean,
): readonly Head[] {
  const declared = generationConfig.alignment_heads
  const fits = ([layer, head]: Head) => layer < decoder.layers && head < decoder.heads
  if (Array.isArray(declared) && declared.length > 0 && declared.every(isHead) && declared.every(fits)) return declared
  const row = published.find(
    ({layers, mels, ...model}) =>
      layers[0] === encoder.layers &&
      layers[1] === decoder.layers &&
      model.multilingual === multilingual &&
      (mels ?? melBins) === melBins,
  )
  const known = row?.heads.split(' ').map((pair) => pair.split(',').map(Number) as unknown as Head)
  return known?.every(fits) ? known : upperHalf(decoder)
}

const isHead = (value: unknown): value is Head =>
  Array.isArray(value) && value.length === 2 && value.every((item) => Number.isSafeInteger(item) && item >= 0)

function upperHalf({layers, heads}: WhisperConfig['decoder']): Head[] {
  const first = layers >> 1
  return Array.from({length: (layers - first) * heads}, (_, i): Head => [first + Math.floor(i / heads), i % heads])
}
