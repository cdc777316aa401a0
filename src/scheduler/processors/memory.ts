import {appendFile, mkdir, readdir, readFile, rm} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {excerpt} from '../../errors/index.js'
import {logger, redact} from '../../log/index.js'
import type {Task} from '../../tasks/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'

type Place = Pick<WorkspaceContext, 'root' | 'config' | 'now'>

/** Maximum length of the memory file in a prompt, characters; the prompt cuts it further. */
const maxMemoryLength = 65_536
/** Maximum length of a description and of a result in the log, characters. */
const maxEntryLength = 300

const folderOf = ({root, config}: Place): string => resolve(root, '.svc', 'memory', config.memory.accountId)

/** The memory file of a workspace; empty if there is none or memory is off. */
export async function readMemory(place: Place): Promise<string> {
  const {enabled, memoryMdPath} = place.config.memory
  if (!enabled) return ''
  const path = memoryMdPath === undefined ? join(folderOf(place), 'MEMORY.md') : resolve(place.root, memoryMdPath)
  try {
    return (await readFile(path, 'utf8')).slice(0, maxMemoryLength).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      logger('svc.orchestrator').warn({err: error}, 'cannot read the memory file')
    return ''
  }
}

/** Adds the result of a task to the log of the day, and deletes old logs. Never throws. */
export async function logResult(
  place: Place,
  {display_id, agent_name, description}: Task,
  text: string,
): Promise<void> {
  const {enabled, logDir, logRetentionDays} = place.config.memory
  if (!enabled) return
  const folder = logDir === undefined ? folderOf(place) : resolve(place.root, logDir)
  const moment = new Date(place.now()).toISOString()
  const entry = [description, text].map((each) => excerpt(each.replaceAll(/\s+/g, ' ').trim(), maxEntryLength))
  try {
    await mkdir(folder, {recursive: true})
    const line = redact(`- ${moment} ${display_id} (${agent_name}): ${entry.join(' -> ')}\n`)
    await appendFile(join(folder, `${moment.slice(0, 10)}.md`), line, {mode: 0o600})
    await deleteLogs(folder, new Date(place.now() - logRetentionDays * 86_400_000).toISOString().slice(0, 10))
  } catch (error) {
    logger('svc.orchestrator').warn({err: error}, 'cannot write the memory log')
  }
}

/** @param before `YYYY-MM-DD`; only logs of earlier days are deleted */
async function deleteLogs(folder: string, before: string): Promise<void> {
  for (const name of await readdir(folder))
    if (/^\d{4}-\d\d-\d\d\.md$/.test(name) && name.slice(0, 10) < before) await rm(join(folder, name), {force: true})
}
