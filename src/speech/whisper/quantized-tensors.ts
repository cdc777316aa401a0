import {largestWeight} from '../../onnx/index.js'
import {
  blocksCopy,
  type CopyOptions,
  columnsCopy,
  type QuantizedCopy,
  type TensorEntry,
  type TensorMap,
  withCopies,
} from '../../weights/index.js'

const recipe = 'whisper-int8.3'

/** Weights per scale of the decoder matrices. Larger blocks are faster; 128 keeps the relative error below 1 %. */
const block = 128

/** The embedding matrix of the decoder, whose rows also give the logits. */
export const embeddingTensor = 'model.decoder.embed_tokens.weight'

/** Matrices that are multiplied with many rows at once: the encoder, and the cross-attention keys and values. */
const manyRows = /^model\.(encoder\.layers\.\d+\..*|decoder\.layers\.\d+\.encoder_attn\.[kv]_proj)\.weight$/
/** Decoder matrices, which are multiplied with few rows; the embedding is also the logits matrix. */
const fewRows = /^model\.decoder\.(layers\.\d+\..*|embed_tokens)\.weight$/

/**
 * Adds 8-bit quantised copies of the matrices to the tensors of a Whisper model. The copies are cached in a file.
 * @param most largest value of columns
 * @throws cache_unwritable
 */
export function withQuantized(
  tensors: TensorMap,
  options: Omit<CopyOptions, 'recipe'>,
  max = largestWeight(),
): Promise<TensorMap> {
  const copiesOf = (entry: TensorEntry): QuantizedCopy[] => {
    if (manyRows.test(entry.name)) return [columnsCopy(entry, max)]
    // Products of blocks use instructions for byte products. Without these, products of columns are faster.
    if (entry.name === embeddingTensor && max < 127) return [columnsCopy(entry, max, {bounds: true})]
    return fewRows.test(entry.name) ? [blocksCopy(entry, block, {bounds: entry.name === embeddingTensor})] : []
  }
  const matrices = [...tensors.values()].filter(({shape}) => shape.length === 2)
  return withCopies(tensors, matrices.flatMap(copiesOf), {...options, recipe: `${recipe} max=${max}`})
}
