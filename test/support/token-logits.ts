import type {TokenLogits} from '../../src/sampling/index.js'

/** The logits of all rows, `[rows, vocabulary]`. */
export const allLogits = (rows: readonly TokenLogits[]): Float32Array =>
  Float32Array.from(rows.flatMap(({values}) => [...values]))
