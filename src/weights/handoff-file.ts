import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {readJsonObject} from './json-file.js'

/** Name of the file that describes for other programs how to serve an artefact. */
export const handoffName = 'external_serving_handoff_v1.json'

/** ChatML. With a format other than `chatmlFormat` and `noFormat`, the template of the model is used. */
export const chatmlFormat = 'qwen_chatml_im_start'
/** No markup if the model has no template. */
export const noFormat = 'none'

/** The prompt format in the hand-off file of a folder; undefined if there is none. */
export async function readPromptFormat(folder: string): Promise<string | undefined> {
  const file = join(folder, handoffName)
  if (!existsSync(file)) return undefined
  const {prompt_format: format} = await readJsonObject(file)
  return typeof format === 'string' ? format : undefined
}
