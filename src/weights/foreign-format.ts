import {existsSync} from 'node:fs'
import {readdir} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {SvcError} from '../errors/index.js'

/**
 * The error of a directory without safetensors shards: it names weights of another format where there are some.
 * @param tried where shards were looked for
 */
export const weightsMissing = async (path: string, tried: readonly string[]): Promise<SvcError> =>
  (await foreignWeights(path)) ?? new SvcError('model_file_missing', {file: 'weights', tried})

/** The error of a directory that has weights, but of another format; undefined where it has none. */
export async function foreignWeights(path: string): Promise<SvcError | undefined> {
  const names = (await readdir(path)).sort()
  const gguf = names.find((name) => name.endsWith('.gguf'))
  if (gguf !== undefined) return ggufError(path, gguf)
  const pickle = names.find((name) => /^(pytorch_model|model).*\.(bin|pth|pt)$/.test(name))
  if (pickle !== undefined) return unsupportedWeights(path, `PyTorch weights (${pickle})`, saveSafetensors(path))
  const original = names.find((name) => /^consolidated.*\.(pth|safetensors)$/.test(name))
  return original === undefined
    ? undefined
    : unsupportedWeights(path, `weights in the layout of their author (${original})`)
}

/** The error of a GGUF file. @param folder where it is */
export const ggufError = (folder: string, file: string): SvcError =>
  unsupportedWeights(folder, `a GGUF file (${basename(file)})`, saveSafetensors(folder, basename(file)))

/** The error of a directory without `tokenizer.json`. */
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

/** The command that writes the model and its tokenizer beside their directory. */
function saveSafetensors(path: string, gguf?: string): string {
  const source = [quoted(path), ...(gguf === undefined ? [] : [`gguf_file=${quoted(gguf)}`])].join(', ')
  const save = (type: string) => `${type}.from_pretrained(${source}).save_pretrained(${quoted(`${path}-safetensors`)})`
  return python(`from transformers import AutoModelForCausalLM as M, AutoTokenizer as T; ${save('M')}; ${save('T')}`)
}

const python = (script: string) => `python -c "${script}"`

const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
