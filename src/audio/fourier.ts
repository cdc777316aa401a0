/**
 * Power spectra of real frames of 400 samples: `power[k] = |X[k]|^2` for k = 0 … 200.
 *
 * The real transform is computed as a complex one of half the length. The even samples are the real parts and the odd
 * samples are the imaginary parts; `unpack` separates the two. 200 = 5 * 5 * 4 * 2, so the complex transform is a
 * mixed-radix Stockham FFT, which needs no bit reversal. Source: Van Loan, Computational Frameworks for the FFT. It
 * assigns no lists of values, because a short recording ends before V8 optimises these away.
 */
export interface PowerSpectrum {
  /** Transforms `frame` and writes 201 powers to `power`, without allocating. */
  transform(frame: Float64Array, power: Float64Array): void
}

/** Samples in a frame. */
export const frameLength = 400
/** Frequencies in its spectrum. */
export const spectrumLength = frameLength / 2 + 1
/** Periodic Hann window over a frame. */
export const hann = Float64Array.from(
  {length: frameLength},
  (_, i) => 0.5 * (1 - Math.cos((2 * Math.PI * i) / frameLength)),
)

const half = frameLength / 2
const radices = [5, 5, 4, 2] as const

interface Pass {
  radix: number
  /** Number of interleaved transforms in this pass. */
  stride: number
  /** Length of the remaining transforms after this pass. */
  groups: number
  /** cos and sin of the twiddle factors, `[groups, radix]`. */
  cos: Float64Array
  sin: Float64Array
}

/** The passes, from the full length down to single values. */
function planPasses(): Pass[] {
  const passes: Pass[] = []
  let length: number = half
  let stride = 1
  for (const radix of radices) {
    const groups = length / radix
    const angle = (i: number) => (-2 * Math.PI * Math.floor(i / radix) * (i % radix)) / length
    passes.push({
      radix,
      stride,
      groups,
      cos: Float64Array.from({length: groups * radix}, (_, i) => Math.cos(angle(i))),
      sin: Float64Array.from({length: groups * radix}, (_, i) => Math.sin(angle(i))),
    })
    length = groups
    stride *= radix
  }
  return passes
}

export function createPowerSpectrum(): PowerSpectrum {
  const passes = planPasses()
  let re = new Float64Array(half)
  let im = new Float64Array(half)
  let outRe = new Float64Array(half)
  let outIm = new Float64Array(half)
  const twiddleCos = Float64Array.from({length: half + 1}, (_, k) => Math.cos((-2 * Math.PI * k) / frameLength))
  const twiddleSin = Float64Array.from({length: half + 1}, (_, k) => Math.sin((-2 * Math.PI * k) / frameLength))
  return {
    transform(frame, power) {
      for (let i = 0; i < half; i++) {
        re[i] = frame[2 * i]!
        im[i] = frame[2 * i + 1]!
      }
      for (const pass of passes) {
        butterflies[pass.radix]?.(pass, re, im, outRe, outIm)
        const real = re
        re = outRe
        outRe = real
        const imaginary = im
        im = outIm
        outIm = imaginary
      }
      unpack(re, im, twiddleCos, twiddleSin, power)
    },
  }
}

/** Converts the spectrum of the complex frame to the power spectrum of the real one. */
function unpack(re: Float64Array, im: Float64Array, cos: Float64Array, sin: Float64Array, power: Float64Array): void {
  for (let k = 0; k <= half; k++) {
    const i = k === half ? 0 : k
    const j = k === 0 || k === half ? 0 : half - k
    const evenRe = (re[i]! + re[j]!) / 2
    const evenIm = (im[i]! - im[j]!) / 2
    const oddRe = (im[i]! + im[j]!) / 2
    const oddIm = (re[j]! - re[i]!) / 2
    const real = evenRe + oddRe * cos[k]! - oddIm * sin[k]!
    const imaginary = evenIm + oddRe * sin[k]! + oddIm * cos[k]!
    power[k] = real * real + imaginary * imaginary
  }
}

type Butterfly = (pass: Pass, re: Float64Array, im: Float64Array, outRe: Float64Array, outIm: Float64Array) => void

const butterflies: Readonly<Record<number, Butterfly>> = {2: radix2, 4: radix4, 5: radix5}

function radix2(
  {stride, groups, cos, sin}: Pass,
  re: Float64Array,
  im: Float64Array,
  or: Float64Array,
  oi: Float64Array,
) {
  const step = groups * stride
  for (let p = 0; p < groups; p++) {
    const c = cos[2 * p + 1]!
    const s = sin[2 * p + 1]!
    for (let q = 0; q < stride; q++) {
      const a = q + stride * p
      const b = a + step
      const to = q + stride * 2 * p
      const dr = re[a]! - re[b]!
      const di = im[a]! - im[b]!
      or[to] = re[a]! + re[b]!
      oi[to] = im[a]! + im[b]!
      or[to + stride] = dr * c - di * s
      oi[to + stride] = dr * s + di * c
    }
  }
}

function radix4(
  {stride, groups, cos, sin}: Pass,
  re: Float64Array,
  im: Float64Array,
  or: Float64Array,
  oi: Float64Array,
) {
  const step = groups * stride
  for (let p = 0; p < groups; p++) {
    const t = 4 * p
    for (let q = 0; q < stride; q++) {
      const a = q + stride * p
      const to = q + stride * t
      const b = a + step
      const c = b + step
      const d = c + step
      const sumRe = re[a]! + re[c]!
      const sumIm = im[a]! + im[c]!
      const difRe = re[a]! - re[c]!
      const difIm = im[a]! - im[c]!
      const sumRe2 = re[b]! + re[d]!
      const sumIm2 = im[b]! + im[d]!
      const difRe2 = im[b]! - im[d]!
      const difIm2 = re[d]! - re[b]!
      or[to] = sumRe + sumRe2
      oi[to] = sumIm + sumIm2
      rotate(or, oi, to + stride, difRe + difRe2, difIm + difIm2, cos[t + 1]!, sin[t + 1]!)
      rotate(or, oi, to + 2 * stride, sumRe - sumRe2, sumIm - sumIm2, cos[t + 2]!, sin[t + 2]!)
      rotate(or, oi, to + 3 * stride, difRe - difRe2, difIm - difIm2, cos[t + 3]!, sin[t + 3]!)
    }
  }
}

const [cos1, cos2] = [Math.cos((2 * Math.PI) / 5), Math.cos((4 * Math.PI) / 5)]
const [sin1, sin2] = [Math.sin((2 * Math.PI) / 5), Math.sin((4 * Math.PI) / 5)]

function radix5(
  {stride, groups, cos, sin}: Pass,
  re: Float64Array,
  im: Float64Array,
  or: Float64Array,
  oi: Float64Array,
) {
  const step = groups * stride
  for (let p = 0; p < groups; p++) {
    const t = 5 * p
    for (let q = 0; q < stride; q++) {
      const a = q + stride * p
      const to = q + stride * t
      const b = a + step
      const c = b + step
      const d = c + step
      const e = d + step
      const s1r = re[b]! + re[e]!
      const s1i = im[b]! + im[e]!
      const d1r = re[b]! - re[e]!
      const d1i = im[b]! - im[e]!
      const s2r = re[c]! + re[d]!
      const s2i = im[c]! + im[d]!
      const d2r = re[c]! - re[d]!
      const d2i = im[c]! - im[d]!
      const m1r = re[a]! + cos1 * s1r + cos2 * s2r
      const m1i = im[a]! + cos1 * s1i + cos2 * s2i
      const m2r = re[a]! + cos2 * s1r + cos1 * s2r
      const m2i = im[a]! + cos2 * s1i + cos1 * s2i
      const n1r = sin1 * d1i + sin2 * d2i
      const n1i = -(sin1 * d1r + sin2 * d2r)
      const n2r = sin2 * d1i - sin1 * d2i
      const n2i = -(sin2 * d1r - sin1 * d2r)
      or[to] = re[a]! + s1r + s2r
      oi[to] = im[a]! + s1i + s2i
      rotate(or, oi, to + stride, m1r + n1r, m1i + n1i, cos[t + 1]!, sin[t + 1]!)
      rotate(or, oi, to + 2 * stride, m2r + n2r, m2i + n2i, cos[t + 2]!, sin[t + 2]!)
      rotate(or, oi, to + 3 * stride, m2r - n2r, m2i - n2i, cos[t + 3]!, sin[t + 3]!)
      rotate(or, oi, to + 4 * stride, m1r - n1r, m1i - n1i, cos[t + 4]!, sin[t + 4]!)
    }
  }
}

function rotate(or: Float64Array, oi: Float64Array, at: number, real: number, imaginary: number, c: number, s: number) {
  or[at] = real * c - imaginary * s
  oi[at] = real * s + imaginary * c
}
