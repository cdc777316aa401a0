import {join} from 'node:path'
import type {ExternalServingHandoffV1} from '../../contracts/index.js'
import {writeFileAtomic} from '../../files/index.js'
import {chatmlFormat, handoffName, noFormat, readPromptFormat} from '../handoff-file.js'
import {readJsonObject} from '../json-file.js'
import {findBeside, type MergeInputs} from './merge-inputs.js'

export interface Merged {
  /** The merged shard, or the first of them. */
  file: string
  folder: string
  full: boolean
  dtypes: readonly string[]
}

/**
 * Writes the hand-off file into the folder of the merged shard.
 * @returns its path
 * @throws contract_violation, file_unreadable, disk_full
 */
export async function writeHandoff(
  {file, folder, full, dtypes}: Merged,
  {baseModel, folders}: MergeInputs,
): Promise<string> {
  const tokenizer = findBeside(full ? [folder] : folders, 'tokenizer.json')
  const handoff: ExternalServingHandoffV1 = {
    schema: 'svc_external_serving_handoff_v1',
    schema_version: 1,
    backend_family: full ? 'hf-transformers' : 'other',
    base_model: baseModel,
    tokenizer_source: tokenizer ?? 'tokenizer.json of the run directory that the adapter comes from',
    artifact_dir: folder,
    prompt_format: await promptFormat(folders),
    adapter_path: file,
    notes: full
      ? `A complete model in ${dtypes.join(', ')}: any runtime that reads Hugging Face directories serves it.`
      : `Only the tensors that the adapter changes, in ${dtypes.join(', ')}: they replace those of the base model.`,
  }
  // The validator is worth its time only where something is written.
  const {assertContract} = await import('../../contracts/index.js')
  await assertContract('eval/external-serving-handoff', handoff, handoffName)
  const path = join(folder, handoffName)
  await writeFileAtomic(path, `${JSON.stringify(handoff, undefined, 2)}\n`, {flush: true})
  return path
}

/**
 * How chats become prompts, so that the merged model reads them as base and adapter did: as the run says, by the template
 * of the model, as ChatML where the vocabulary has it, or not at all.
 */
async function promptFormat(folders: readonly string[]): Promise<string> {
  const said = await readPromptFormat(folders[0] ?? '')
  if (said) return said
  const config = await readBeside(folders, 'tokenizer_config.json')
  if (findBeside(folders, 'chat_template.jinja') !== undefined || config.chat_template) return 'model'
  const {added_tokens: added, model} = (await readBeside(folders, 'tokenizer.json')) as TokenizerJson
  const known = added?.some(({content}) => content === chatmlMark) || Object.hasOwn(model?.vocab ?? {}, chatmlMark)
  return known ? chatmlFormat : noFormat
}

interface TokenizerJson {
  added_tokens?: readonly {content?: unknown}[]
  model?: {vocab?: object}
}

const chatmlMark = '<|im_start|>'

async function readBeside(folders: readonly string[], name: string): Promise<Readonly<Record<string, unknown>>> {
  const file = findBeside(folders, name)
  return file === undefined ? {} : readJsonObject(file)
}
