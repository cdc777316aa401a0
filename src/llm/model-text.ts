import {readFile} from 'node:fs/promises'
import {SvcError} from '../errors/index.js'
import {
  ChatTemplate,
  chatml,
  createTokenizer,
  type DeclaredTemplate,
  declaredTemplate,
  declaredToolTemplate,
  type Tokenizer,
} from '../text/index.js'
import {chatmlFormat, noFormat, type RunDirectory} from '../weights/index.js'
import {type Insertion, readInsertion} from './insertion.js'
import {type ReplyStyle, readStyle} from './reply/style.js'

/** Tokenizer and chat template of a model. */
export interface ModelText {
  tokenizer: Tokenizer
  template: ChatTemplate | undefined
  templateSource: string | undefined
  /** The templates in use: the usual one, and the one for tools. */
  templates: readonly (string | undefined)[]
  /** How replies are written; undefined without a template that works. */
  style: ReplyStyle | undefined
  /** Undefined if the model cannot insert text before a suffix. */
  insertion: Insertion | undefined
  /** Tokens that end a reply. */
  ends: ReadonlySet<number>
}

/**
 * Uses the requested template, else that of the model's defaults, else that of its files, else ChatML if the run or the
 * vocabulary indicates it, else none.
 * @param config of the model
 * @param requested file with a template, or `none`
 * @throws file_unreadable, model_file_invalid
 */
export async function readModelText(
  {tokenizer: file, readTokenizer, declarations, promptFormat, defaults}: RunDirectory,
  config: Readonly<Record<string, unknown>>,
  requested = defaults.template,
): Promise<ModelText> {
  const tokenizer = createTokenizer(await readTokenizer(), declarations.tokenizer, file)
  tokenizer.prepare()
  const ends = endTokens(tokenizer, config, declarations.generation)
  const text = {tokenizer, ends, insertion: readInsertion(tokenizer)}
  const none = {...text, template: undefined, templateSource: undefined, templates: [], style: undefined}
  if (requested === 'none') return none
  const isChatml =
    promptFormat === chatmlFormat || (promptFormat !== noFormat && tokenizer.id('<|im_start|>') !== undefined)
  const found: DeclaredTemplate | undefined =
    requested === undefined ? declaredTemplate(declarations.template?.declared) : await readTemplate(requested)
  const declared = found ?? (isChatml ? chatml : undefined)
  if (declared === undefined) return none
  const origin = requested ?? declarations.template?.file ?? file
  const forTools = requested === undefined ? declaredToolTemplate(declarations.template?.declared) : undefined
  const template = new ChatTemplate(declared, origin, tokenizer.specialTokens, forTools)
  const source = typeof declared === 'string' ? declared : undefined
  const style = source === undefined || template.error !== undefined ? undefined : readStyle(template, source)
  return {...text, template, templateSource: source, templates: [source, forTools], style}
}

async function readTemplate(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw SvcError.from(error)
  }
}

/**
 * End tokens: those of the configurations and of the tokenizer, and the common end-of-turn tokens of chat models. With the last
 * two of them, models of Gemma wait for the result of a call.
 */
function endTokens(tokenizer: Tokenizer, ...configs: readonly Readonly<Record<string, unknown>>[]): Set<number> {
  const declared = configs.flatMap(({eos_token_id: id}) => [id].flat())
  const turns = ['<|im_end|>', '<|endoftext|>', '<|eot_id|>', '<end_of_turn>']
  const names = [...turns, '<start_function_response>', '<|tool_response>']
  const known = [tokenizer.eos, ...names].map((token) => (token === undefined ? undefined : tokenizer.id(token)))
  return new Set([...declared, ...known].filter((id): id is number => Number.isSafeInteger(id)))
}
