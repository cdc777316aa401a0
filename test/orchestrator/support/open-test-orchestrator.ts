import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {readConfigFile} from '../../../src/config/index.js'
import {type ErrorCode, isErrorOf, type SvcError} from '../../../src/errors/index.js'
import {type Orchestrator, openOrchestrator} from '../../../src/orchestrator/index.js'
import {randomSource} from '../../../src/sampling/index.js'
import {addEmptyStore} from '../../support/empty-store.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

/** A clock that only a test changes, possibly backwards. Unix ms. */
export interface Clock {
  ms: number
}

/** An orchestrator with its own workspace and database file. */
export type TestOrchestrator = Orchestrator & {clock: Clock}

export interface TestOptions {
  /** `Svc.toml` of the workspace. */
  toml?: string
  env?: Readonly<Record<string, string>>
  /** Path of `config.toml` of the user. */
  userConfig?: string
  /** An existing workspace, opened as by another process. */
  root?: string
  /** Shared by several handles, or real time. */
  clock?: Clock | 'real'
}

/** Initial time of the test clock, Unix ms. */
export const startMs = 1_764_000_000_000

/** Opens a workspace in a temporary folder, as a process would. Changes nothing outside the folder. */
export async function openTestOrchestrator(
  test: Pick<TestContext, 'after'>,
  {toml = '', env = {}, userConfig, root, clock = {ms: startMs}}: TestOptions = {},
): Promise<TestOrchestrator> {
  const folder = root ?? (await temporaryFolder(test))
  if (root === undefined) await addEmptyStore(folder)
  if (root === undefined || toml !== '') await writeFiles(folder, {'Svc.toml': toml})
  const file = await readConfigFile(join(folder, 'Svc.toml'))
  const userFile = userConfig === undefined ? undefined : await readConfigFile(userConfig)
  const sources = {env: {SVC_DATA_DIR: join(folder, 'data'), ...env}, file, userFile}
  const frozen: Clock = clock === 'real' ? {ms: 0} : clock
  const orchestrator = await openOrchestrator({
    root: folder,
    sources,
    now: clock === 'real' ? Date.now : () => frozen.ms,
    random: randomSource(7),
  })
  test.after(() => orchestrator.close())
  return {...orchestrator, clock: frozen}
}

/** Asserts that the call throws an error with this code, and returns the error. */
export function refused<C extends ErrorCode>(code: C, call: () => unknown): SvcError<C> {
  try {
    call()
  } catch (error) {
    assert.ok(isErrorOf(error, code), `${code} was expected, not ${(error as Error).stack}`)
    return error
  }
  assert.fail(`the call succeeded, ${code} was expected`)
}

const tables = [
  'orch_tasks',
  'orch_agents',
  'orch_locks',
  'orch_affinity',
  'orch_dependencies',
  'orch_events',
  'orch_awards',
]

/** All rows about tasks and agents, for a later comparison. */
export const contents = ({store}: Orchestrator): Record<string, unknown[]> =>
  Object.fromEntries(tables.map((table) => [table, store.all(`SELECT * FROM ${table}`)]))
