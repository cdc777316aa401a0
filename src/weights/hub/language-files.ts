import {SvcError} from '../../errors/index.js'
import {foreignFormat} from '../foreign-format.js'
import {ggufModels, ggufParts} from '../gguf/gguf-file.js'
import {safetensorsOf, smallFiles} from './speech-files.js'

/** Chat template, licence and model card, whose names differ between publishers. */
const texts = /^(chat_template\.jinja|additional_chat_templates\/tool_use\.jinja|licen[cs]e(\.(txt|md))?|readme\.md)$/i

/**
 * The files of a language model in a repository: configuration, tokenizer, chat template, licence, model card, and
 * safetensors weights; or the only GGUF model. Empty if there are no complete weights.
 * @param id for messages
 * @throws model_format_unsupported if weights or tokenizer have another format; gguf_several
 */
export function languageModelFiles(id: string, names: readonly string[]): string[] {
  const weights = safetensorsOf(names)
  const gguf = weights.length === 0 ? onlyGguf(id, names) : []
  if (gguf.length > 0) return names.filter((name) => texts.test(name) || gguf.includes(name))
  const foreign = weights.length === 0 ? foreignFormat(id, names) : undefined
  if (foreign !== undefined) throw foreign
  if (weights.length > 0 && !names.includes('tokenizer.json'))
    throw new SvcError('model_format_unsupported', {
      path: id,
      missing: 'tokenizer.json',
      found: names.includes('tokenizer.model') ? 'a SentencePiece model (tokenizer.model)' : 'other files',
    })
  if (weights.length === 0) return []
  return names.filter((name) => smallFiles.has(name) || texts.test(name) || weights.includes(name))
}

/** The files of the only GGUF model of a repository; empty if it has none. @throws gguf_several */
function onlyGguf(id: string, names: readonly string[]): string[] {
  const [model, ...others] = ggufModels(names)
  if (model === undefined) return []
  if (others.length > 0)
    throw new SvcError('gguf_several', {path: id, files: [model, ...others].map((name) => `${id}:${name}`)})
  return ggufParts(model)
}
