import {SvcError} from '../../errors/index.js'
import {foreignFormat} from '../foreign-format.js'
import {safetensorsOf, smallFiles} from './speech-files.js'

/** Chat template, licence and model card, whose names differ between publishers. */
const texts = /^(chat_template\.jinja|additional_chat_templates\/tool_use\.jinja|licen[cs]e(\.(txt|md))?|readme\.md)$/i

/**
 * The files of a language model in a repository: configuration, tokenizer, chat template, licence, model card, and
 * safetensors weights; empty if there are no complete weights.
 * @param id for messages
 * @throws model_format_unsupported if weights or tokenizer have another format
 */
export function languageModelFiles(id: string, names: readonly string[]): string[] {
  const weights = safetensorsOf(names)
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
