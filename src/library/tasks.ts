import {existsSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {readConfigFile, readUserConfig} from '../config/index.js'
import {type Orchestrator, openOrchestrator} from '../orchestrator/index.js'

export type {SubmitTaskV1} from '../contracts/index.js'
export {SvcError} from '../errors/index.js'
export {type Orchestrator, reportStatus, type StatusReport, spawnAgent} from '../orchestrator/index.js'
export {type DaemonOptions, type Outcome, type Processor, type RunReport, runDaemon} from '../scheduler/index.js'
export {
  type Accepted,
  type Agent,
  cancelTask,
  claimTask,
  completeTask,
  type EventRecord,
  failTask,
  followEvents,
  listAgents,
  listTasks,
  readEvents,
  renewClaim,
  requireTask,
  retryTask,
  submitBatch,
  submitTask,
  type Task,
} from '../tasks/index.js'

/**
 * Opens the task store of a workspace, `.svc/store.db`, with the settings of its `Svc.toml`, and creates it if it does
 * not exist. All functions of this entry point use the result, each in one transaction. Close it when done.
 * @param env environment variables with settings
 * @throws SvcError config_unparsable, orchestrator_config_invalid, store_unopenable
 *
 * @example
 * const workspace = await openWorkspace('.')
 * const {task_id} = submitTask(workspace, {description: 'Review the parser', processor: 'external'})
 * const {task, generation} = await claimTask(workspace, {owner: 'reviewer'})
 * await completeTask(workspace, task.id, {text: 'Looks fine.'}, {generation})
 * workspace.close()
 */
export async function openWorkspace(
  root: string,
  {env = process.env}: {env?: Readonly<Record<string, string | undefined>>} = {},
): Promise<Orchestrator> {
  const folder = resolve(root)
  const path = join(folder, 'Svc.toml')
  const file = existsSync(path) ? await readConfigFile(path) : undefined
  return openOrchestrator({root: folder, sources: {env, file, userFile: await readUserConfig(env)}})
}
