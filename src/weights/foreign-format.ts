import {existsSync} from 'node:fs'
import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {commandLine, SvcError} from '../errors/index.js'

/**
 * Error for a directory without safetensors shards; reports weights of another format if there are any.
 * @param tried paths that were searched for shards
 */
export const weightsMissing = async (path: string, tried: readonly string[]): Promise<SvcError> =>
  (await foreignWeights(path)) ?? new SvcError('model_file_missing', {file: 'weights', tried})

/** Error for a directory with weights of another format; undefined if it has none. */
export const foreignWeights = async (path: string): Promise<SvcError | undefined> =>
  foreignFormat(path, await readdir(path))

/** The same for the names of files. @param path directory, or id of a repository */
export function foreignFormat(path: string, files: readonly string[]): SvcError | undefined {
  const names = [...files].sort()
  const pickle = names.find((name) => /^(pytorch_model|model).*\.(bin|pth|pt)$/.test(name))
  if (pickle !== undefined) return unsupportedWeights(path, `PyTorch weights (${pickle})`, saveSafetensors(path))
  const original = names.find((name) => /^consolidated.*\.(pth|safetensors)$/.test(name))
  return original === undefined
    ? undefined
    : unsupportedWeights(path, `weights in the original layout of the publisher (${original})`)
}

/** Error for a directory without `tokenizer.json`. */
export function tokenizerMissing(path: string, tried: readonly string[]): SvcError {
  if (!existsSync(join(path, 'tokenizer.model')))
    return new SvcError('model_file_missing', {file: 'tokenizer.json', tried})
  const script = `from transformers import AutoTokenizer as T; T.from_pretrained(${quoted(path)}).save_pretrained(${quoted(path)})`
  const found = 'a SentencePiece model (tokenizer.model)'
  return new SvcError('model_format_unsupported', {path, missing: 'tokenizer.json', found, convert: python(script)})
}

const unsupportedWeights = (path: string, found: string, convert?: string) =>
  new SvcError('model_format_unsupported', {
    path,
    missing: 'safetensors weights',
    found,
    ...(convert === undefined ? {} : {convert}),
  })

/** A command that converts the model and its tokenizer to a directory next to the original. */
function saveSafetensors(path: string): string {
  const save = (type: string) =>
    `${type}.from_pretrained(${quoted(path)}).save_pretrained(${quoted(`${path}-safetensors`)})`
  return python(`from transformers import AutoModelForCausalLM as M, AutoTokenizer as T; ${save('M')}; ${save('T')}`)
}

const python = (script: string) => commandLine`python -c ${script}`

/** A string of Python. */
const quoted = (text: string) => JSON.stringify(text)
