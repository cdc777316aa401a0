import type {RopeScaling, RopeSpec} from './spec.js'

/** The angle per position of each pair of a head, `[headDim / 2]`, and what cosine and sine are multiplied by. */
export interface RotaryFrequencies {
  frequencies: readonly number[]
  magnitude: number
}

/**
 * Rotary frequencies with their scaling. Sources: Su et al. 2021 (RoPE); Chen et al. 2023 (linear); the Llama 3.1
 * release (llama3); Peng et al. 2023 (YaRN).
 */
export function rotaryFrequencies({theta, scaling}: RopeSpec, headDim: number): RotaryFrequencies {
  const plain = Array.from({length: headDim / 2}, (_, pair) => theta ** ((-2 * pair) / headDim))
  switch (scaling.kind) {
    case 'none':
      return {frequencies: plain, magnitude: 1}
    case 'linear':
      return {frequencies: plain.map((frequency) => frequency / scaling.factor), magnitude: 1}
    case 'llama3':
      return {frequencies: plain.map((frequency) => llama3(frequency, scaling)), magnitude: 1}
    case 'yarn':
      return {frequencies: yarn(plain, theta, headDim, scaling), magnitude: scaling.attentionFactor}
  }
}

type Llama3 = Extract<RopeScaling, {kind: 'llama3'}>

/** Long wavelengths are stretched, short ones kept, those between blended. */
function llama3(frequency: number, {factor, lowFactor, highFactor, originalContext}: Llama3): number {
  const turns = (originalContext * frequency) / (2 * Math.PI)
  if (turns < lowFactor) return frequency / factor
  if (turns > highFactor) return frequency
  const smooth = (turns - lowFactor) / (highFactor - lowFactor)
  return (1 - smooth) * (frequency / factor) + smooth * frequency
}

type Yarn = Extract<RopeScaling, {kind: 'yarn'}>

/** Pairs that turn often within the original context are kept, those that turn seldom stretched, by a ramp between. */
function yarn(plain: readonly number[], theta: number, headDim: number, scaling: Yarn): number[] {
  const {factor, betaFast, betaSlow, originalContext, truncate} = scaling
  /** The pair that turns this many times within the original context. */
  const pairOf = (turns: number) =>
    (headDim * Math.log(originalContext / (turns * 2 * Math.PI))) / (2 * Math.log(theta))
  const [first, last] = [pairOf(betaFast), pairOf(betaSlow)]
  const low = Math.max(truncate ? Math.floor(first) : first, 0)
  const high = Math.min(truncate ? Math.ceil(last) : last, headDim - 1)
  const width = low === high ? 0.001 : high - low
  return plain.map((frequency, pair) => {
    const stretched = Math.min(1, Math.max(0, (pair - low) / width))
    return (frequency / factor) * stretched + frequency * (1 - stretched)
  })
}

/** The usual magnitude of YaRN: attention is sharpened as the context grows. */
export const yarnMagnitude = (factor: number): number => (factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1)
