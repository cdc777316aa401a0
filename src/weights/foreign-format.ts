import {existsSync} from 'node:fs'
import {readdir} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {SvcError} from '../errors/index.js'

/**
 * The error of a directory without safetensors shards: it names weights of another format where there are some.
 * @param tried where shards were looked for
 */
export async function weightsMissing(path: string, tried: readonly string[]): Promise<SvcError> {
  const names = (await readdir(path)).sort()
  const gguf = names.find((name) => name.endsWith('.gguf'))
  if (gguf !== undefined) return ggufError(path, gguf)
  const pickle = names.find((name) => /^(pytorch_model|consolidated|model).*\.(bin|pth|pt)$/.test(name))
  if (pickle !== undefined) {
    const load = `M.from_pretrained(${quoted(path)})`
    const found = `PyTorch weights (${pickle})`
    return new SvcError('model_format_unsupported', {
      path,
      missing: 'safetensors weights',
      found,
      convert: save(load, path),
    })
  }
  return new SvcError('model_file_missing', {file: 'weights', tried})
}

/** The error of a GGUF file. @param folder where it is */
export function ggufError(folder: string, file: string): SvcError {
  const load = `M.from_pretrained(${quoted(folder)}, gguf_file=${quoted(basename(file))})`
  const found = `a GGUF file (${basename(file)})`
  return new SvcError('model_format_unsupported', {
    path: folder,
    missing: 'safetensors weights',
    found,
    convert: save(load, folder),
  })
}

/** The error of a directory without `tokenizer.json`. */
export function tokenizerMissing(path: string, tried: readonly string[]): SvcError {
  if (!existsSync(join(path, 'tokenizer.model')))
    return new SvcError('model_file_missing', {file: 'tokenizer.json', tried})
  const convert = `python -c "from transformers import AutoTokenizer as T; T.from_pretrained(${quoted(path)}).save_pretrained(${quoted(path)})"`
  const found = 'a SentencePiece model (tokenizer.model)'
  return new SvcError('model_format_unsupported', {path, missing: 'tokenizer.json', found, convert})
}

const save = (load: string, path: string) =>
  `python -c "from transformers import AutoModelForCausalLM as M; ${load}.save_pretrained(${quoted(`${path}-safetensors`)})"`

const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
