import {spectrumLength} from './fourier.js'

/** A mel filter bank over a spectrum of 201 frequencies; each filter is a short run of weights. */
export interface MelFilters {
  bins: number
  /** First frequency of each filter. */
  first: Int32Array
  /** Offset of the first weight of each filter, `[bins + 1]`. */
  offsets: Int32Array
  weights: Float64Array
}

const maxHz = 8000
const made = new Map<number, MelFilters>()

/**
 * Slaney's mel filters with Slaney's area norm, 0 to 8 kHz: linear below 1 kHz, logarithmic above. Cached per number of
 * bins. Source: Slaney, Auditory Toolbox 1998, as librosa computes it.
 */
export function melFilters(bins: number): MelFilters {
  const filters = made.get(bins) ?? makeFilters(bins)
  made.set(bins, filters)
  return filters
}

function makeFilters(bins: number): MelFilters {
  const highest = toMel(maxHz)
  const edges = Array.from({length: bins + 2}, (_, i) => toHz((highest * i) / (bins + 1)))
  const rows = Array.from({length: bins}, (_, bin) => triangle(edges[bin]!, edges[bin + 1]!, edges[bin + 2]!))
  const offsets = new Int32Array(bins + 1)
  for (const [bin, {weights}] of rows.entries()) offsets[bin + 1] = offsets[bin]! + weights.length
  return {
    bins,
    first: Int32Array.from(rows, ({first}) => first),
    offsets,
    weights: Float64Array.from(rows.flatMap(({weights}) => weights)),
  }
}

/** Weights of the frequencies between two edges; the triangle has an area of 1. */
function triangle(low: number, middle: number, high: number): {first: number; weights: number[]} {
  const weights = Array.from({length: spectrumLength}, (_, k) => {
    const hz = (maxHz * k) / (spectrumLength - 1)
    const height = Math.min((hz - low) / (middle - low), (high - hz) / (high - middle))
    return (Math.max(0, height) * 2) / (high - low)
  })
  const first = weights.findIndex((weight) => weight > 0)
  const last = weights.findLastIndex((weight) => weight > 0)
  return first === -1 ? {first: 0, weights: []} : {first, weights: weights.slice(first, last + 1)}
}

const linearHz = 1000
const melPerHz = 3 / 200
const linearMel = linearHz * melPerHz
const logStep = Math.log(6.4) / 27

const toMel = (hz: number) => (hz < linearHz ? hz * melPerHz : linearMel + Math.log(hz / linearHz) / logStep)
const toHz = (mel: number) => (mel < linearMel ? mel / melPerHz : linearHz * Math.exp((mel - linearMel) * logStep))
