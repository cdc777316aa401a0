import {SvcError} from '../../errors/index.js'
import type {DecoderSpec} from '../spec.js'
import {ConfigReader} from './config-reader.js'
import type {Family} from './family.js'
import {llama} from './llama.js'

export const families: readonly Family[] = [llama]

/**
 * What the model of a `config.json` computes.
 * @throws model_family_unknown; model_config_unsupported for any key that would change the computation and is not
 *   known, by name; model_file_invalid for a value that cannot be
 */
export function readDecoderSpec(config: Readonly<Record<string, unknown>>, file: string): DecoderSpec {
  const type = typeof config.model_type === 'string' ? config.model_type : '(none)'
  const family = families.find(({modelTypes}) => modelTypes.includes(type))
  if (family === undefined)
    throw new SvcError('model_family_unknown', {file, family: type, known: families.flatMap((f) => f.modelTypes)})
  const reader = new ConfigReader(config, file)
  const spec = family.read(reader)
  reader.refuseUnread()
  return spec
}
