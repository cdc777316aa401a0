import {closeSync, openSync, readSync} from 'node:fs'
import {SvcError} from '../../errors/index.js'
import {
  readTensorFloat32,
  refuseOtherThanFloats,
  type TensorEntry,
  type TensorMap,
  widenFloats,
} from '../../weights/index.js'
import type {WhisperConfig} from './config.js'

/** Embeds tokens with rows read from the checkpoint file, so that the matrix is in memory only once, for the logits. */
export interface TokenEmbedding {
  /** Writes the sum of token and position embedding, `[hidden]`, to `target` at `offset`. */
  embed(token: number, position: number, target: Float32Array, offset: number): void
  /** Logit of a token of a last hidden state `[hidden]`. */
  logit(state: Float32Array, token: number): number
  /** Logits `[vocabulary]` of a last hidden state: products with the rows of the checkpoint. */
  logits(state: Float32Array): Float32Array
  close(): void
}

/** @throws tensor_missing, tensor_dtype, tensor_shape */
export async function openTokenEmbedding(config: WhisperConfig, tensors: TensorMap): Promise<TokenEmbedding> {
  const {hiddenSize, vocabSize, textPositions} = config
  const tokens: TensorEntry = find(tensors, 'model.decoder.embed_tokens.weight', [vocabSize, hiddenSize])
  refuseOtherThanFloats(tokens)
  const positions = await readTensorFloat32(
    find(tensors, 'model.decoder.embed_positions.weight', [textPositions, hiddenSize]),
  )
  const rowBytes = tokens.length / vocabSize
  const bytes = new Uint8Array(rowBytes)
  const row = new Float32Array(hiddenSize)
  const file = openSync(tokens.file, 'r')
  const read = (target: Uint8Array, first: number) => {
    if (readSync(file, target, 0, target.length, tokens.offset + first * rowBytes) !== target.length)
      throw new SvcError('safetensors_invalid', {file: tokens.file, reason: 'it has shrunk since it was opened'})
  }
  const readRow = (token: number) => {
    read(bytes, token)
    widenFloats(bytes, tokens.dtype, row)
  }
  return {
    embed(token, position, target, offset) {
      readRow(token)
      const base = position * hiddenSize
      for (let i = 0; i < hiddenSize; i++) target[offset + i] = row[i]! + positions[base + i]!
    },
    logit(state, token) {
      readRow(token)
      return product(row, 0, state)
    },
    logits(state) {
      const logits = new Float32Array(vocabSize)
      const floats = new Float32Array(rowsPerRead * hiddenSize)
      for (let first = 0; first < vocabSize; first += rowsPerRead) {
        const rows = Math.min(rowsPerRead, vocabSize - first)
        const chunk = new Uint8Array(rows * rowBytes)
        read(chunk, first)
        widenFloats(chunk, tokens.dtype, floats.subarray(0, rows * hiddenSize))
        for (let i = 0; i < rows; i++) logits[first + i] = product(floats, i * hiddenSize, state)
      }
      return logits
    },
    close: () => closeSync(file),
  }
}

/** Rows that are read and widened at a time. */
const rowsPerRead = 1024

function product(rows: Float32Array, at: number, state: Float32Array): number {
  let sum = 0
  for (let i = 0; i < state.length; i++) sum += rows[at + i]! * state[i]!
  return sum
}

function find(tensors: TensorMap, name: string, shape: readonly number[]): TensorEntry {
  const entry = tensors.get(name)
  if (entry === undefined)
    throw new SvcError('tensor_missing', {
      tensor: name,
      files: [...new Set([...tensors.values()].map(({file}) => file))],
    })
  if (entry.shape.length !== shape.length || entry.shape.some((dim, i) => dim !== shape[i]))
    throw new SvcError('tensor_shape', {tensor: name, file: entry.file, found: entry.shape, expected: shape})
  return entry
}
