import {yarnMagnitude} from '../rope.js'
import type {RopeScaling, RopeSpec} from '../spec.js'
import type {ConfigReader} from './config-reader.js'

/**
 * Reads the rotary embedding: `rope_parameters` in newer configurations, else `rope_theta` and `rope_scaling`, whose kind
 * is in `rope_type` or `type`.
 */
export function readRope(config: ConfigReader, contextLength: number): RopeSpec {
  const parameters = config.table('rope_parameters')
  const legacy = config.table('rope_scaling')
  parameters.only('partial_rotary_factor', 1)
  config.only('partial_rotary_factor', 1)
  const theta = parameters.positive('rope_theta', config.positive('rope_theta', 10_000))
  const table = parameters.has('rope_type') ? parameters : legacy
  const scaling = readScaling(table, config.optionalCount('original_max_position_embeddings') ?? contextLength)
  parameters.refuseUnread()
  legacy.refuseUnread()
  return {theta, scaling}
}

function readScaling(table: ConfigReader, contextLength: number): RopeScaling {
  const kind = table.word('rope_type') ?? table.word('type') ?? 'default'
  // Some configurations have both keys; read each of them, so that neither is reported as unknown.
  table.word('type')
  const read = kinds[kind]
  if (read === undefined) throw table.unsupported('rope_type')
  return read(table, contextLength)
}

const kinds: Record<string, (table: ConfigReader, contextLength: number) => RopeScaling> = {
  default: () => ({kind: 'none'}),
  divided: (table) => ({kind: 'divided', divisors: table.positives('divisors')}),
  linear: (table) => ({kind: 'linear', factor: table.positive('factor')}),
  llama3: (table, contextLength) => ({
    kind: 'llama3',
    factor: table.positive('factor'),
    lowFactor: table.positive('low_freq_factor'),
    highFactor: table.positive('high_freq_factor'),
    originalContext: table.optionalCount('original_max_position_embeddings') ?? contextLength,
  }),
  yarn: (table, contextLength) => {
    const factor = table.positive('factor')
    return {
      kind: 'yarn',
      factor,
      attentionFactor: table.positive('attention_factor', yarnMagnitude(factor)),
      betaFast: table.positive('beta_fast', 32),
      betaSlow: table.positive('beta_slow', 1),
      originalContext: table.optionalCount('original_max_position_embeddings') ?? contextLength,
      truncate: table.optionalFlag('truncate') ?? true,
    }
  },
}
