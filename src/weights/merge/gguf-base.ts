import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {generationFile, tokenizerFile} from '../declarations.js'
import {classNameOf} from '../gguf/architectures.js'
import {type GgufSourceFile, readGguf} from '../gguf/gguf-file.js'
import type {TensorMap} from '../shards.js'

/** A base model in a GGUF file. */
export interface GgufBase {
  file: string
  tensors: TensorMap
  /** What a GGUF file with other weights needs. */
  source: GgufSourceFile
  /** Folder with what the metadata says, as the files of a model directory. */
  folder: string
  /** Deletes the folder. */
  remove(): Promise<void>
}

/**
 * Opens the base model of a merge. Its metadata is written to a temporary folder, so that the merged model gets the same
 * files as that of a base in Hugging Face layout.
 * @throws what `readGguf` throws
 */
export async function openGgufBase(file: string): Promise<GgufBase> {
  const {tensors, config, tokenizer, declarations, source} = await readGguf(file)
  const {tokenizer: settings, generation, template} = declarations()
  const files = {
    'config.json': {architectures: [classNameOf(config.model_type)], ...config, torch_dtype: 'float16'},
    'tokenizer.json': tokenizer(),
    [tokenizerFile]: {...settings, ...(template === undefined ? {} : {chat_template: template.declared})},
    [generationFile]: generation,
  }
  const folder = await mkdtemp(join(tmpdir(), 'svc-merge-'))
  const remove = () => rm(folder, {recursive: true, force: true})
  try {
    for (const [name, value] of Object.entries(files)) await writeFile(join(folder, name), JSON.stringify(value))
  } catch (error) {
    await remove()
    throw error
  }
  return {file, tensors, source, folder, remove}
}
