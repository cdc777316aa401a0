import {warpRows} from './dynamic-time-warping.js'
import type {CrossAttention} from './network.js'

/** Width of the median filter, encoder positions. */
const medianWidth = 7

/**
 * Start of each token in encoder positions: the cross-attention of the alignment heads is standardised over tokens,
 * smoothed over time, averaged over heads, and aligned with dynamic time warping.
 * Source: the word timestamps of openai/whisper.
 * @param first row that predicts the first token of the text
 * @param count number of tokens of the text
 * @param positions number of positions that contain audio
 * @returns `count + 1` positions: the start of each token, and the end of the last one
 */
export function alignTokens(attention: CrossAttention, first: number, count: number, positions: number): Int32Array {
  const width = Math.max(1, Math.min(positions, attention.positions))
  const rows = count + 1
  const cost = new Float32Array(rows * width)
  for (let head = 0; head < attention.heads; head++) {
    const weights = standardised(attention, head, width)
    for (let row = 0; row < rows; row++) {
      const start = (first + row) * width
      const smooth = medianFilter(weights.subarray(start, start + width))
      for (let i = 0; i < width; i++) cost[row * width + i]! -= smooth[i]! / attention.heads
    }
  }
  return warpRows(cost, rows, width)
}

/** Weights of one head over the first positions, `[tokens, width]`, with mean 0 and deviation 1 over the tokens. */
function standardised({tokens, positions, weights}: CrossAttention, head: number, width: number): Float32Array {
  const out = new Float32Array(tokens * width)
  for (let token = 0; token < tokens; token++) {
    const start = (head * tokens + token) * positions
    let total = 0
    for (let i = 0; i < width; i++) total += weights[start + i]!
    // Renormalise to exclude the attention to the padding, as if it had not been part of the softmax.
    for (let i = 0; i < width; i++) out[token * width + i] = weights[start + i]! / (total || 1)
  }
  for (let i = 0; i < width; i++) standardise(out, i, width, tokens)
  return out
}

/** Standardises column `i` of `[tokens, width]`. */
function standardise(data: Float32Array, i: number, width: number, tokens: number): void {
  let mean = 0
  for (let token = 0; token < tokens; token++) mean += data[token * width + i]! / tokens
  let variance = 0
  for (let token = 0; token < tokens; token++) variance += (data[token * width + i]! - mean) ** 2 / tokens
  const deviation = Math.sqrt(variance) || 1
  for (let token = 0; token < tokens; token++) data[token * width + i] = (data[token * width + i]! - mean) / deviation
}

/** Median filter over each value and its three neighbours on either side, with reflected ends. */
export function medianFilter(values: Float32Array): Float32Array {
  const half = medianWidth >> 1
  if (values.length <= half) return values
  const out = new Float32Array(values.length)
  const sorted = new Float64Array(medianWidth)
  const mirrored = (i: number) => (i < 0 ? -i : i >= values.length ? 2 * (values.length - 1) - i : i)
  for (let i = 0; i < values.length; i++) {
    // Insertion sort of seven values is many times faster than `sort`.
    for (let k = 0; k < medianWidth; k++) {
      const value = values[mirrored(i + k - half)]!
      let at = k
      for (; at > 0 && sorted[at - 1]! > value; at--) sorted[at] = sorted[at - 1]!
      sorted[at] = value
    }
    out[i] = sorted[half]!
  }
  return out
}
