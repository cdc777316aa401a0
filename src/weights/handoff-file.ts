import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {readJsonObject} from './json-file.js'

/** Name of the file that tells other programs how to serve an artefact. */
export const handoffName = 'external_serving_handoff_v1.json'

/** Prompt formats that mean something here; with any other the template of the model decides. */
export const chatmlFormat = 'qwen_chatml_im_start'
/** Chats are sent as they are, where the model has no template. */
export const noFormat = 'none'

/** How a chat becomes a prompt, as the hand-off file of a folder names it; undefined where it does not. */
export async function readPromptFormat(folder: string): Promise<string | undefined> {
  const file = join(folder, handoffName)
  if (!existsSync(file)) return undefined
  const {prompt_format: format} = await readJsonObject(file)
  return typeof format === 'string' ? format : undefined
}
