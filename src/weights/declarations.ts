import {existsSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {readJsonObject} from './json-file.js'
import {refusePointer} from './lfs-pointer.js'

export const templateFile = 'chat_template.jinja'
/** The template for conversations with tools, if another one. */
export const toolTemplateFile = 'additional_chat_templates/tool_use.jinja'
export const tokenizerFile = 'tokenizer_config.json'
export const specialTokensFile = 'special_tokens_map.json'
export const generationFile = 'generation_config.json'

/** What the folders of a model say about its text and generation. */
export interface Declarations {
  /** The settings of the tokenizer, with the special tokens, without the chat template. */
  tokenizer: Readonly<Record<string, unknown>>
  /** The chat template as declared, and the file that declares it. */
  template?: {declared: unknown; file: string}
  generation: Readonly<Record<string, unknown>>
}

/**
 * Reads the optional files of a model. An earlier folder precedes the later ones, whatever file its statement is in: a run
 * precedes its base. Within a folder, `chat_template.jinja` precedes `tokenizer_config.json`, which precedes
 * `special_tokens_map.json`. Settings are merged by key; null is no statement. A template for tools in a file of its own is added
 * to a text, so that both are a list of named templates.
 * @throws model_file_invalid, lfs_pointer
 */
export async function readDeclarations(folders: readonly string[]): Promise<Declarations> {
  return mergedDeclarations(await Promise.all(folders.map(readFolder)))
}

/** The declarations of several places as one; an earlier one precedes the later ones. */
export function mergedDeclarations(all: readonly Declarations[]): Declarations {
  const template = all.find((each) => each.template !== undefined)?.template
  const merged = (key: 'tokenizer' | 'generation') => Object.assign({}, ...all.map((each) => each[key]).reverse())
  return {
    tokenizer: merged('tokenizer'),
    generation: merged('generation'),
    ...(template === undefined ? {} : {template}),
  }
}

/** Reads the optional files of one folder. @throws model_file_invalid, lfs_pointer */
export async function readFolder(folder: string): Promise<Declarations> {
  const read = async (file: string) => {
    const path = join(folder, file)
    const json = existsSync(path) ? await readJsonObject(path) : {}
    return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null))
  }
  const {chat_template: declared, ...config} = await read(tokenizerFile)
  const file = join(folder, templateFile)
  const own = existsSync(file)
    ? {declared: await readTemplate(file), file}
    : declared === undefined
      ? undefined
      : {declared, file: join(folder, tokenizerFile)}
  const template = own && {...own, declared: await withToolTemplate(own.declared, join(folder, toolTemplateFile))}
  return {
    tokenizer: {...(await read(specialTokensFile)), ...config},
    generation: await read(generationFile),
    ...(template === undefined ? {} : {template}),
  }
}

async function withToolTemplate(declared: unknown, file: string): Promise<unknown> {
  if (typeof declared !== 'string' || !existsSync(file)) return declared
  return [
    {name: 'default', template: declared},
    {name: 'tool_use', template: await readTemplate(file)},
  ]
}

async function readTemplate(file: string): Promise<string> {
  const source = await readFile(file, 'utf8')
  refusePointer(file, source)
  return source
}
