import {largestWeight} from '../onnx/index.js'
import {
  elements,
  isBlockEntry,
  openRunDirectory,
  type RunLookup,
  roundingError,
  type TensorEntry,
  type TensorMap,
} from '../weights/index.js'
import {nibbleScheme, type Precision} from './precision.js'

/** The weights of a type in the files of a model. */
export interface WeightType {
  type: string
  weights: number
  bytes: number
  /** Relative error of rounding them to a precision, from a sample; undefined for types without matrices of layers. */
  roundingError: number | undefined
}

/** The types of weights, those with the most bytes first. */
export async function weightTypes(tensors: TensorMap, precision: Precision): Promise<WeightType[]> {
  const entries = [...tensors.values()]
  const types = [...new Set(entries.map(({dtype}) => dtype))].map(async (type): Promise<WeightType> => {
    const own = entries.filter(({dtype}) => dtype === type)
    const sample = own.find(({name, shape}) => shape.length === 2 && name.includes('.layers.'))
    return {
      type,
      weights: own.reduce((sum, {shape}) => sum + elements(shape), 0),
      bytes: own.reduce((sum, {length}) => sum + length, 0),
      roundingError: sample && (await errorOf(sample, precision)),
    }
  })
  return (await Promise.all(types)).sort((a, b) => b.bytes - a.bytes)
}

/** Of the matrices of layers; the integers of a GGUF file are not rounded for f32 and w4. */
async function errorOf(sample: TensorEntry, precision: Precision): Promise<number> {
  if (precision === 'w8') return roundingError(sample, {kind: 'columns', max: largestWeight()})
  if (precision === 'f32' || isBlockEntry(sample)) return 0
  return roundingError(sample, {kind: 'nibbles', size: nibbleScheme.block})
}

/** The types of weights of a model. @throws what `openRunDirectory` throws */
export const modelWeightTypes = async (model: string, lookup: RunLookup, precision: Precision): Promise<WeightType[]> =>
  weightTypes((await openRunDirectory(model, lookup)).tensors, precision)
