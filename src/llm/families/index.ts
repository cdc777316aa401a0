import {SvcError} from '../../errors/index.js'
import type {DecoderSpec} from '../spec.js'
import {ConfigReader} from './config-reader.js'
import {embeddingOf, textRoots} from './decoder.js'
import type {Family} from './family.js'
import {gemma2, gemma3, gemma4} from './gemma.js'
import {granite, granite4} from './granite.js'
import {lfm2} from './lfm2.js'
import {llama} from './llama.js'
import {ministral3, mistral} from './mistral.js'
import {olmo2} from './olmo.js'
import {phi3} from './phi.js'
import {qwen2, qwen3, qwen3Moe} from './qwen.js'
import {qwen35} from './qwen35.js'
import {smollm3} from './smollm.js'

export const families: readonly Family[] = [
  llama,
  mistral,
  ministral3,
  qwen2,
  qwen3,
  qwen3Moe,
  gemma2,
  gemma3,
  gemma4,
  smollm3,
  olmo2,
  granite,
  phi3,
  lfm2,
  qwen35,
  granite4,
]

/** The values of `model_type` of language models. */
export const languageModelTypes: readonly string[] = families.flatMap(({modelTypes}) => modelTypes)

/** Whether a `config.json` is that of a language model of these families, alone or as the text part of a model. */
export function isLanguageModel({model_type: type, text_config: inner}: Readonly<Record<string, unknown>>): boolean {
  const innerType = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>).model_type : type
  return families.some(({modelTypes}) => modelTypes.includes(String(type)) || modelTypes.includes(String(innerType)))
}

const withDefaults = (config: Readonly<Record<string, unknown>>, {defaults = {}}: Family) => ({
  ...config,
  ...Object.fromEntries(Object.entries(defaults).filter(([key]) => config[key] === undefined)),
})

/**
 * Reads the architecture from a `config.json`. For a multimodal model, its `text_config` is used.
 * @param has whether the weights contain a tensor
 * @param ignored unknown keys that may be present
 * @throws model_family_unknown; model_config_unsupported for an unknown key that might affect the computation;
 *   model_file_invalid for an invalid value
 */
export function readDecoderSpec(
  config: Readonly<Record<string, unknown>>,
  file: string,
  has: (tensor: string) => boolean,
  ignored: readonly string[] = [],
): DecoderSpec {
  const inner = config.text_config
  const text = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : config
  // If the text part has other tensor names, it is not a plain decoder and is treated as the complete model.
  const isReachable = text === config || textRoots.some((root) => has(embeddingOf(root)))
  const {model_type: type} = isReachable ? text : config
  const family = families.find(({modelTypes}) => isReachable && modelTypes.includes(String(type)))
  if (family === undefined) {
    throw new SvcError('model_family_unknown', {
      file,
      family: typeof type === 'string' ? type : '(none)',
      known: languageModelTypes,
    })
  }
  const reader = new ConfigReader(withDefaults(text, family), file, ignored)
  const spec = family.read(reader, has)
  reader.refuseUnread()
  return spec
}
