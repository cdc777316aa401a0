import {readFile} from 'node:fs/promises'
import {ChatTemplate, chatml, createTokenizer, declaredTemplate, type Tokenizer} from '../text/index.js'
import {chatmlFormat, noFormat, type RunDirectory, readJsonObject} from '../weights/index.js'

/** What turns text into tokens and back. */
export interface ModelText {
  tokenizer: Tokenizer
  template: ChatTemplate | undefined
  templateSource: string | undefined
}

/** The template is that of the model, else ChatML where the run or the vocabulary says so, else none. */
export async function readModelText({
  tokenizer: file,
  tokenizerConfig,
  chatTemplate,
  promptFormat,
}: RunDirectory): Promise<ModelText> {
  const config = tokenizerConfig === undefined ? {} : await readJsonObject(tokenizerConfig)
  const tokenizer = createTokenizer(await readJsonObject(file), config, file)
  const isChatml =
    promptFormat === chatmlFormat || (promptFormat !== noFormat && tokenizer.id('<|im_start|>') !== undefined)
  const written = chatTemplate === undefined ? declaredTemplate(config) : await readFile(chatTemplate, 'utf8')
  const templateSource = written ?? (isChatml ? chatml : undefined)
  const origin = chatTemplate ?? tokenizerConfig ?? file
  const template = templateSource === undefined ? undefined : new ChatTemplate(templateSource, origin)
  return {tokenizer, template, templateSource}
}

/** Ends of a text: what the configurations and the tokenizer name, and the ends of a turn that chat models share. */
export function endTokens(tokenizer: Tokenizer, ...configs: readonly Readonly<Record<string, unknown>>[]): Set<number> {
  const declared = configs.flatMap(({eos_token_id: id}) => [id].flat())
  const known = [tokenizer.eos, '<|im_end|>', '<|endoftext|>', '<|eot_id|>'].map((token) =>
    token === undefined ? undefined : tokenizer.id(token),
  )
  return new Set([...declared, ...known].filter((id): id is number => Number.isSafeInteger(id)))
}
