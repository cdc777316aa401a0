import {SvcError} from '../../errors/index.js'
import type {DecoderSpec} from '../spec.js'
import {ConfigReader} from './config-reader.js'
import {textRoots} from './decoder.js'
import type {Family} from './family.js'
import {llama} from './llama.js'
import {mistral} from './mistral.js'
import {qwen2, qwen3} from './qwen.js'

export const families: readonly Family[] = [llama, mistral, qwen2, qwen3]

/**
 * What the model of a `config.json` computes. A configuration with several parts is read by its `text_config`.
 * @param has whether the weights have a tensor of this name
 * @throws model_family_unknown; model_config_unsupported for any key that would change the computation and is not
 *   known, by name; model_file_invalid for a value that cannot be
 */
export function readDecoderSpec(
  config: Readonly<Record<string, unknown>>,
  file: string,
  has: (tensor: string) => boolean,
): DecoderSpec {
  const inner = config.text_config
  const text = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : config
  // The text part of a model that keeps it under other names is run as a whole by programs for that model alone.
  const isReachable = text === config || textRoots.some((root) => has(`${root}.layers.0.input_layernorm.weight`))
  const {model_type: type} = isReachable ? text : config
  const family = families.find(({modelTypes}) => isReachable && modelTypes.includes(String(type)))
  if (family === undefined) {
    const known = families.flatMap(({modelTypes}) => modelTypes)
    throw new SvcError('model_family_unknown', {file, family: typeof type === 'string' ? type : '(none)', known})
  }
  const reader = new ConfigReader(text, file)
  const spec = family.read(reader, has)
  reader.refuseUnread()
  return spec
}
