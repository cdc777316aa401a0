import {existsSync} from 'node:fs'
import {join} from 'node:path'
import type {ExternalServingHandoffV1} from '../../contracts/index.js'
import {writeWholeFile} from '../../files/index.js'
import {handoffName, readPromptFormat} from '../handoff-file.js'
import {findBeside, type MergeInputs} from './merge-inputs.js'

export interface Merged {
  /** The merged shard, or the first of them. */
  file: string
  /** Folder of the shard. */
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
  {manifest, folders}: MergeInputs,
): Promise<string> {
  const tokenizer = findBeside(full ? [folder] : folders, 'tokenizer.json')
  const handoff: ExternalServingHandoffV1 = {
    schema: 'svc_external_serving_handoff_v1',
    schema_version: 1,
    backend_family: full ? 'hf-transformers' : 'other',
    base_model: manifest.baseModel ?? 'unknown',
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
  await writeWholeFile(path, `${JSON.stringify(handoff, undefined, 2)}\n`, {flush: true})
  return path
}

/** How the run that the adapter comes from makes prompts of chats; ChatML where it does not say. */
async function promptFormat(folders: readonly string[]): Promise<string> {
  const before = folders.find((folder) => existsSync(join(folder, handoffName)))
  return (before === undefined ? undefined : await readPromptFormat(before)) || 'qwen_chatml_im_start'
}
