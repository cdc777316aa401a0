import type {RopeScaling, RopeSpec} from './spec.js'

/** Angle per position of each pair of a head, `[dims / 2]`, and the factor of cosine and sine. */
export interface RotaryFrequencies {
  frequencies: readonly number[]
  magnitude: number
}

/**
 * Rotary frequencies with their scaling. Sources: Su et al. 2021 (RoPE); Chen et al. 2023 (linear); the Llama 3.1
 * release (llama3); Ding et al. 2024 (LongRoPE); Peng et al. 2023 (YaRN, and dynamic scaling). GGUF files have the divisors of the frequencies instead
 * of their formula.
 * @param contextLength of the sequences. Scalings that depend on the length use this one, so that a sequence has the same
 *   keys however long it is.
 */
export function rotaryFrequencies({theta, dims, scaling}: RopeSpec, contextLength: number): RotaryFrequencies {
  const plain = Array.from({length: dims / 2}, (_, pair) => theta ** ((-2 * pair) / dims))
  switch (scaling.kind) {
    case 'none':
      return {frequencies: plain, magnitude: 1}
    case 'dynamic':
      return {frequencies: dynamic(theta, dims, scaling, contextLength), magnitude: 1}
    case 'linear':
      return {frequencies: plain.map((frequency) => frequency / scaling.factor), magnitude: 1}
    case 'divided':
      return {frequencies: plain.map((frequency, pair) => frequency / scaling.divisors[pair]!), magnitude: 1}
    case 'longrope': {
      const divisors = contextLength > scaling.originalContext ? scaling.long : scaling.short
      const frequencies = plain.map((frequency, pair) => frequency / divisors[pair]!)
      return {frequencies, magnitude: scaling.attentionFactor}
    }
    case 'llama3':
      return {frequencies: plain.map((frequency) => llama3(frequency, scaling)), magnitude: 1}
    case 'yarn':
      return {frequencies: yarn(plain, theta, dims, scaling), magnitude: scaling.attentionFactor}
  }
}

type Dynamic = Extract<RopeScaling, {kind: 'dynamic'}>

/** Increases the base for contexts that are longer than the original one. */
function dynamic(theta: number, dims: number, {factor, originalContext}: Dynamic, contextLength: number): number[] {
  const length = Math.max(contextLength, originalContext)
  const base = theta * ((factor * length) / originalContext - (factor - 1)) ** (dims / (dims - 2))
  return Array.from({length: dims / 2}, (_, pair) => base ** ((-2 * pair) / dims))
}

type Llama3 = Extract<RopeScaling, {kind: 'llama3'}>

/** Scales low frequencies, keeps high ones, and interpolates between. */
function llama3(frequency: number, {factor, lowFactor, highFactor, originalContext}: Llama3): number {
  const turns = (originalContext * frequency) / (2 * Math.PI)
  if (turns < lowFactor) return frequency / factor
  if (turns > highFactor) return frequency
  const smooth = (turns - lowFactor) / (highFactor - lowFactor)
  return (1 - smooth) * (frequency / factor) + smooth * frequency
}

type Yarn = Extract<RopeScaling, {kind: 'yarn'}>

/** Keeps pairs with many turns within the original context, scales those with few, with a linear ramp between. */
function yarn(plain: readonly number[], theta: number, dims: number, scaling: Yarn): number[] {
  const {factor, betaFast, betaSlow, originalContext, truncate} = scaling
  /** Index of the pair with this many turns within the original context. */
  const pairOf = (turns: number) => (dims * Math.log(originalContext / (turns * 2 * Math.PI))) / (2 * Math.log(theta))
  const [first, last] = [pairOf(betaFast), pairOf(betaSlow)]
  const low = Math.max(truncate ? Math.floor(first) : first, 0)
  const high = Math.min(truncate ? Math.ceil(last) : last, dims - 1)
  const width = low === high ? 0.001 : high - low
  return plain.map((frequency, pair) => {
    const ramp = Math.min(1, Math.max(0, (pair - low) / width))
    return (frequency / factor) * ramp + frequency * (1 - ramp)
  })
}

/** Default attention factor of YaRN, which sharpens attention for longer contexts. */
export const yarnMagnitude = (factor: number, weight = 1): number =>
  factor <= 1 ? 1 : 0.1 * weight * Math.log(factor) + 1

/** Default attention factor of LongRoPE. */
export const longropeMagnitude = (factor: number, originalContext: number): number =>
  factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(originalContext))

/** Factor of the queries at a position. Source: the Llama 4 release. */
export const queryFactor = ({queryGrowth}: RopeSpec, position: number): number =>
  queryGrowth === undefined
    ? 1
    : 1 + queryGrowth.beta * Math.log(1 + Math.floor(position / queryGrowth.originalContext))
