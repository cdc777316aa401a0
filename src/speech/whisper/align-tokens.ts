import {warpRows} from './dynamic-time-warping.js'
import type {CrossAttention} from './network.js'

/** Width of the median filter over time, positions. */
const medianWidth = 7

/**
 * Where each token begins, in encoder positions, from what the alignment heads looked at: standardised over tokens,
 * smoothed over time, averaged over heads, and warped into a monotone path.
 * Source: the word timestamps of openai/whisper.
 * @param first row that predicts the first token of the text
 * @param count tokens of the text
 * @param positions those that hold sound
 * @returns `count + 1` positions: the begin of each token, and the end of the last
 */
export function alignTokens(attention: CrossAttention, first: number, count: number, positions: number): Int32Array {
  const kept = Math.max(1, Math.min(positions, attention.positions))
  const rows = count + 1
  const cost = new Float32Array(rows * kept)
  for (let head = 0; head < attention.heads; head++) {
    const weights = standardised(attention, head, kept)
    for (let row = 0; row < rows; row++) {
      const start = (first + row) * kept
      const smooth = medianFilter(weights.subarray(start, start + kept))
      for (let i = 0; i < kept; i++) cost[row * kept + i]! -= smooth[i]! / attention.heads
    }
  }
  return warpRows(cost, rows, kept)
}

/** Weights of one head over the kept positions, `[tokens, kept]`, with mean 0 and deviation 1 over the tokens. */
function standardised({tokens, positions, weights}: CrossAttention, head: number, kept: number): Float32Array {
  const out = new Float32Array(tokens * kept)
  for (let token = 0; token < tokens; token++) {
    const start = (head * tokens + token) * positions
    let total = 0
    for (let i = 0; i < kept; i++) total += weights[start + i]!
    // The share of the silence after the sound is taken out, as if the softmax had never seen it.
    for (let i = 0; i < kept; i++) out[token * kept + i] = weights[start + i]! / (total || 1)
  }
  for (let i = 0; i < kept; i++) standardise(out, i, kept, tokens)
  return out
}

/** Column `i` of `[tokens, kept]`. */
function standardise(data: Float32Array, i: number, kept: number, tokens: number): void {
  let mean = 0
  for (let token = 0; token < tokens; token++) mean += data[token * kept + i]! / tokens
  let variance = 0
  for (let token = 0; token < tokens; token++) variance += (data[token * kept + i]! - mean) ** 2 / tokens
  const deviation = Math.sqrt(variance) || 1
  for (let token = 0; token < tokens; token++) data[token * kept + i] = (data[token * kept + i]! - mean) / deviation
}

/** Median of each value and its three neighbours on either side; the ends are mirrored. */
export function medianFilter(values: Float32Array): Float32Array {
  const half = medianWidth >> 1
  if (values.length <= half) return values
  const out = new Float32Array(values.length)
  const sorted = new Float64Array(medianWidth)
  const mirrored = (i: number) => (i < 0 ? -i : i >= values.length ? 2 * (values.length - 1) - i : i)
  for (let i = 0; i < values.length; i++) {
    // Insertion into seven places is many times faster than a sort.
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
