import {readFile} from 'node:fs/promises'
import {ChatTemplate, chatml, createTokenizer, declaredTemplate, type Tokenizer} from '../text/index.js'
import {chatmlFormat, noFormat, type RunDirectory, readJsonObject} from '../weights/index.js'

/** Tokenizer and chat template of a model. */
export interface ModelText {
  tokenizer: Tokenizer
  template: ChatTemplate | undefined
  templateSource: string | undefined
}

/** Uses the template of the model, else ChatML if the run or the vocabulary indicates it, else none. */
export async function readModelText({
  tokenizer: file,
  tokenizerConfig,
  chatTemplate,
  promptFormat,
}: RunDirectory): Promise<ModelText> {
  const config = tokenizerConfig === undefined ? {} : await readJsonObject(tokenizerConfig)
  const tokenizer = createTokenizer(await readJsonObject(file), config, file)
  tokenizer.prepare()
  const isChatml =
    promptFormat === chatmlFormat || (promptFormat !== noFormat && tokenizer.id('<|im_start|>') !== undefined)
  const declared = chatTemplate === undefined ? declaredTemplate(config) : await readFile(chatTemplate, 'utf8')
  const templateSource = declared ?? (isChatml ? chatml : undefined)
  const origin = chatTemplate ?? tokenizerConfig ?? file
  const template = templateSource === undefined ? undefined : new ChatTemplate(templateSource, origin)
  return {tokenizer, template, templateSource}
}

/** End tokens: those of the configurations and of the tokenizer, and the common end-of-turn tokens of chat models. */
export function endTokens(tokenizer: Tokenizer, ...configs: readonly Readonly<Record<string, unknown>>[]): Set<number> {
  const declared = configs.flatMap(({eos_token_id: id}) => [id].flat())
  const known = [tokenizer.eos, '<|im_end|>', '<|endoftext|>', '<|eot_id|>'].map((token) =>
    token === undefined ? undefined : tokenizer.id(token),
  )
  return new Set([...declared, ...known].filter((id): id is number => Number.isSafeInteger(id)))
}
