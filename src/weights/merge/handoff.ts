import {join} from 'node:path'
import type {ExternalServingHandoffV1} from '../../contracts/index.js'
import {writeFileAtomic} from '../../files/index.js'
import {readDeclarations} from '../declarations.js'
import {chatmlFormat, handoffName, noFormat, readPromptFormat} from '../handoff-file.js'
import {readJsonObject} from '../json-file.js'
import {findFirst, type MergeInputs} from './merge-inputs.js'

export interface Merged {
  /** The merged shard, or the first of them. */
  file: string
  folder: string
  format: 'gguf' | 'directory' | 'changes'
  dtypes: readonly string[]
}

interface Format {
  family: ExternalServingHandoffV1['backend_family']
  note(dtypes: string): string
}

const formats: Readonly<Record<Merged['format'], Format>> = {
  gguf: {
    family: 'ollama',
    note: (dtypes) => `A complete model in ${dtypes}. Serve it with any runtime that supports GGUF files.`,
  },
  directory: {
    family: 'hf-transformers',
    note: (dtypes) =>
      `A complete model in ${dtypes}. Serve it with any runtime that supports Hugging Face directories.`,
  },
  changes: {
    family: 'other',
    note: (dtypes) => `Only the tensors that the adapter updates, in ${dtypes}. They replace those of the base model.`,
  },
}

/**
 * Writes the hand-off file to the folder of the merged shard.
 * @returns its path
 * @throws contract_violation, file_unreadable, disk_full
 */
export async function writeHandoff(
  {file, folder, format, dtypes}: Merged,
  {baseModel, folders, gguf}: MergeInputs,
): Promise<string> {
  const found = findFirst(format === 'directory' ? [folder] : folders, 'tokenizer.json')
  const isOfBase = gguf !== undefined && found?.startsWith(join(gguf.folder, '/'))
  const tokenizer = format === 'gguf' ? file : isOfBase ? gguf.file : found
  const {family, note} = formats[format]
  const handoff: ExternalServingHandoffV1 = {
    schema: 'svc_external_serving_handoff_v1',
    schema_version: 1,
    backend_family: family,
    base_model: baseModel,
    tokenizer_source: tokenizer ?? 'tokenizer.json in the run directory of the adapter',
    artifact_dir: folder,
    prompt_format: await promptFormat(folders),
    adapter_path: file,
    notes: note(dtypes.join(', ')),
  }
  // The validator is slow to load, so it is loaded only when a file is written.
  const {assertContract} = await import('../../contracts/index.js')
  await assertContract('eval/external-serving-handoff', handoff, handoffName)
  const path = join(folder, handoffName)
  await writeFileAtomic(path, `${JSON.stringify(handoff, undefined, 2)}\n`, {flush: true})
  return path
}

/**
 * The prompt format of base and adapter, which the merged model must keep. It is that of the run, else the template of
 * the model, else ChatML if it is in the vocabulary, else none.
 */
async function promptFormat(folders: readonly string[]): Promise<string> {
  const declared = await readPromptFormat(folders[0] ?? '')
  if (declared) return declared
  if ((await readDeclarations(folders)).template !== undefined) return 'model'
  const file = findFirst(folders, 'tokenizer.json')
  const {added_tokens: added, model}: TokenizerJson = file === undefined ? {} : await readJsonObject(file)
  const known = added?.some(({content}) => content === chatmlMark) || Object.hasOwn(model?.vocab ?? {}, chatmlMark)
  return known ? chatmlFormat : noFormat
}

interface TokenizerJson {
  added_tokens?: readonly {content?: unknown}[]
  model?: {vocab?: object}
}

const chatmlMark = '<|im_start|>'
