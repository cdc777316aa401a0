import {longropeMagnitude, yarnMagnitude} from '../rope.js'
import type {RopeScaling, RopeSpec} from '../spec.js'
import type {ConfigReader} from './config-reader.js'

/** The rotary embeddings of layers without and with a window. */
export interface Ropes {
  full: RopeSpec
  windowed: RopeSpec
}

export interface RopeTraits {
  headDim: number
  /** Head dimension of layers without a window, if they have another one. */
  fullHeadDim?: number
  contextLength: number
  /** Base of layers with a window, if they have another one and their key is absent. */
  windowTheta?: number
  isPartlyRotated?: boolean
  /** Whether positions may be those in images: text has the same position in all dimensions. */
  hasImagePositions?: boolean
  hasQueryGrowth?: boolean
}

/**
 * Reads the rotary embedding: `rope_parameters` in newer configurations, which may have tables for the types of layers, else
 * `rope_theta` and `rope_scaling`, whose kind is in `rope_type` or `type`.
 */
export function readRopes(config: ConfigReader, traits: RopeTraits): Ropes {
  const parameters = config.table('rope_parameters')
  const legacy = config.table('rope_scaling')
  const {headDim, fullHeadDim = headDim} = traits
  const reader = new RopeReader(config, traits)
  if (traits.hasImagePositions) parameters.skip('mrope_section', 'mrope_interleaved')
  const byLayer = traits.windowTheta !== undefined && parameters.has('full_attention')
  const full = byLayer ? parameters.table('full_attention') : parameters
  const ropes = {
    full: reader.read(full, full.has('rope_type') ? full : legacy, fullHeadDim),
    windowed: readWindowed(config, traits, byLayer ? parameters.table('sliding_attention') : undefined, reader),
  }
  for (const table of [full, parameters, legacy]) table.refuseUnread()
  return {full: ropes.full, windowed: ropes.windowed ?? ropes.full}
}

function readWindowed(
  config: ConfigReader,
  {windowTheta, headDim}: RopeTraits,
  table: ConfigReader | undefined,
  reader: RopeReader,
): RopeSpec | undefined {
  if (windowTheta === undefined) return undefined
  if (table === undefined)
    return {
      theta: config.positive('rope_local_base_freq', windowTheta),
      dims: headDim,
      scaling: {kind: 'none'},
      queryGrowth: undefined,
    }
  const rope = reader.read(table, table, headDim)
  table.refuseUnread()
  return rope
}

/** Reads rotary embeddings of a configuration. */
class RopeReader {
  readonly #config: ConfigReader
  readonly #traits: RopeTraits

  constructor(config: ConfigReader, traits: RopeTraits) {
    this.#config = config
    this.#traits = traits
  }

  /** @param scaled the table with the scaling */
  read(parameters: ConfigReader, scaled: ConfigReader, headDim: number): RopeSpec {
    const config = this.#config
    const theta = parameters.positive('rope_theta', config.positive('rope_theta', 10_000))
    const isProportional = scaled.word('rope_type') === 'proportional'
    const dims = isProportional ? headDim : this.#dims(parameters, headDim)
    const original = config.optionalCount('original_max_position_embeddings')
    const {contextLength} = this.#traits
    const scaling = readScaling(scaled, {original: original ?? contextLength, contextLength, dims})
    for (const {length} of divisorsOf(scaling))
      if (length !== dims / 2)
        throw config.invalid(`the rotary embedding has ${length} divisors, but ${dims / 2} pairs`)
    return {theta, dims, scaling, queryGrowth: this.#queryGrowth(scaled, original)}
  }

  #queryGrowth(scaled: ConfigReader, original: number | undefined): RopeSpec['queryGrowth'] {
    if (this.#traits.hasQueryGrowth !== true) return undefined
    const beta = scaled.optionalPositive('llama_4_scaling_beta')
    // Repeats the key of the configuration.
    scaled.optionalCount('max_position_embeddings')
    const originalContext = scaled.optionalCount('original_max_position_embeddings') ?? original
    if (beta === undefined) return undefined
    return {beta, originalContext: originalContext ?? this.#traits.contextLength}
  }

  #dims(parameters: ConfigReader, headDim: number): number {
    const {isPartlyRotated} = this.#traits
    const [own, outer] = [parameters, this.#config]
    if (!isPartlyRotated) {
      for (const table of [own, outer]) table.only('partial_rotary_factor', 1)
      return headDim
    }
    const factor = own.positive('partial_rotary_factor', outer.positive('partial_rotary_factor', 1))
    const dims = Math.floor(headDim * factor)
    if (dims > headDim || dims % 2 !== 0 || dims === 0)
      throw outer.invalid(`partial_rotary_factor ${factor} of head_dim ${headDim} is not a number of pairs`)
    return dims
  }
}

/** Lists with a number for each pair. */
function divisorsOf(scaling: RopeScaling): readonly (readonly number[])[] {
  if (scaling.kind === 'divided') return [scaling.divisors]
  return scaling.kind === 'longrope' ? [scaling.short, scaling.long] : []
}

/** The positions that a model was first trained for, those of the configuration, and the size of the embedding. */
interface Positions {
  original: number
  contextLength: number
  /** Elements of a head that are rotated. */
  dims: number
}

function readScaling(table: ConfigReader, positions: Positions): RopeScaling {
  const kind = table.word('rope_type') ?? table.word('type') ?? 'default'
  // Some configurations have both keys; read each of them, so that neither is reported as unknown.
  table.word('type')
  const read = kinds[kind]
  if (read === undefined) throw table.unsupported('rope_type')
  return read(table, positions)
}

const kinds: Record<string, (table: ConfigReader, positions: Positions) => RopeScaling> = {
  default: () => ({kind: 'none'}),
  divided: (table) => ({kind: 'divided', divisors: table.positives('divisors')}),
  dynamic: (table, {original}) => ({
    kind: 'dynamic',
    factor: table.positive('factor'),
    originalContext: readOriginal(table, original),
  }),
  linear: (table) => ({kind: 'linear', factor: table.positive('factor')}),
  llama3: (table, {original}) => ({
    kind: 'llama3',
    factor: table.positive('factor'),
    lowFactor: table.positive('low_freq_factor'),
    highFactor: table.positive('high_freq_factor'),
    originalContext: readOriginal(table, original),
  }),
  longrope: readLongrope,
  proportional: readProportional,
  su: readLongrope,
  yarn: (table, {original}) => {
    const factor = table.positive('factor')
    return {
      kind: 'yarn',
      factor,
      attentionFactor: table.positive('attention_factor', readMagnitude(table, factor)),
      betaFast: table.positive('beta_fast', 32),
      betaSlow: table.positive('beta_slow', 1),
      originalContext: readOriginal(table, original),
      truncate: table.optionalFlag('truncate') ?? true,
    }
  },
}

/** Some configurations have the weights of two attention factors, of which the quotient is used. */
function readMagnitude(table: ConfigReader, factor: number): number {
  const [weight, divisor] = [table.optionalPositive('mscale'), table.optionalPositive('mscale_all_dim')]
  if (weight === undefined || divisor === undefined) return yarnMagnitude(factor)
  return yarnMagnitude(factor, weight) / yarnMagnitude(factor, divisor)
}

const readOriginal = (table: ConfigReader, fallback: number): number =>
  table.optionalCount('original_max_position_embeddings') ?? fallback

/** Divisor of the frequencies of pairs that are not rotated, the same as in GGUF files. */
const unrotated = Math.fround(1e30)

/** Only the first pairs of each head are rotated. Their frequencies are those of the complete head. */
function readProportional(table: ConfigReader, {dims}: Positions): RopeScaling {
  const factor = table.positive('factor', 1)
  const rotated = Math.floor((table.positive('partial_rotary_factor', 1) * dims) / 2)
  const divisors = Array.from({length: dims / 2}, (_, pair) => (pair < rotated ? factor : unrotated))
  return {kind: 'divided', divisors}
}

/** Source: Ding et al. 2024. */
function readLongrope(table: ConfigReader, {original, contextLength}: Positions): RopeScaling {
  const originalContext = readOriginal(table, original)
  const declared = table.optionalPositive('factor') ?? 1
  const factor = originalContext < contextLength ? contextLength / originalContext : declared
  return {
    kind: 'longrope',
    short: table.positives('short_factor'),
    long: table.positives('long_factor'),
    attentionFactor: table.positive('attention_factor', longropeMagnitude(factor, originalContext)),
    originalContext,
  }
}
