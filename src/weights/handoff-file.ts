import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {readJsonObject} from './json-file.js'

/** Name of the file that tells other programs how to serve an artefact. */
export const handoffName = 'external_serving_handoff_v1.json'

/** How a chat becomes a prompt, as the hand-off file of a folder names it; undefined where it does not. */
export async function readPromptFormat(folder: string): Promise<string | undefined> {
  const file = join(folder, handoffName)
  if (!existsSync(file)) return undefined
  const {prompt_format: format} = await readJsonObject(file)
  return typeof format === 'string' ? format : undefined
}
