import {existsSync} from 'node:fs'
import {homedir} from 'node:os'
import {join} from 'node:path'
import {
  discoverWorkspace,
  readConfigFile,
  readUserConfig,
  resolveSettings,
  workspaceSettings,
} from '../../config/index.js'
import {loadDriver} from '../../store/index.js'
import {workspaceStore} from '../workspace-store-path.js'
import type {ValueKind} from './value-kind.js'

/** An id, and what it is the id of. */
export interface StoredId {
  readonly value: string
  readonly description: string
}

/** Maximum number of ids of a kind, the newest ones. */
const maxIds = 200
/** Time to wait for a lock, ms: a completion without ids is better than a late one. */
const busyMs = 100

const queries: Partial<Record<ValueKind, string>> = {
  task: `SELECT printf('T-%04d', id) AS value, status || ', ' || description AS description FROM orch_tasks ORDER BY id DESC`,
  agent: `SELECT name AS value, state AS description FROM orch_agents WHERE state <> 'retired' ORDER BY name`,
  plan: `SELECT plan_session_id AS value, status || ', ' || goal_text AS description FROM plan_sessions ORDER BY rowid DESC`,
  question: `SELECT printf('Q-%04d', id) AS value, prompt AS description FROM question_events
    WHERE answered_at_ms IS NULL ORDER BY id DESC`,
  session: `SELECT id AS value, coalesce(agent_name, agent_id) || ', ' || status AS description FROM agent_sessions
    ORDER BY started_at DESC`,
  operation: `SELECT printf('OP-%06d', id) AS value, summary AS description FROM agent_oplog ORDER BY id DESC`,
  message: `SELECT CAST(id AS TEXT) AS value, msg_type AS description FROM a2a_messages
    WHERE acknowledged_at_ms IS NULL AND dead_lettered_at_ms IS NULL ORDER BY id DESC`,
  run: `SELECT run_id AS value, workflow_name || ', ' || status AS description FROM workflow_run_log ORDER BY rowid DESC`,
  node: `SELECT node_id AS value, trust_tier AS description FROM mesh_nodes WHERE left_at IS NULL ORDER BY node_id`,
}

export const storedKinds = Object.keys(queries) as ValueKind[]

/** Ids in the store of the workspace, or in that of a control plane of the user; none if there is no store. */
export async function storedIds(kind: ValueKind, cwd: string): Promise<StoredId[]> {
  const sql = queries[kind]
  if (sql === undefined) return []
  const path = kind === 'node' ? join(process.env.HOME || homedir(), '.svc', 'mesh', 'mesh.db') : await storeOf(cwd)
  if (!existsSync(path)) return []
  const Driver = await loadDriver()
  const database = new Driver(path, {readonly: true, fileMustExist: true, timeout: busyMs})
  try {
    return database.prepare(`${sql} LIMIT ${maxIds}`).all() as StoredId[]
  } finally {
    database.close()
  }
}

/** The store with the tasks of a workspace, which its settings select. */
async function storeOf(cwd: string): Promise<string> {
  const {root, configPath} = discoverWorkspace(cwd)
  const {env} = process
  const file = configPath === undefined ? undefined : await readConfigFile(configPath)
  const {values} = resolveSettings(workspaceSettings, {env, file, userFile: await readUserConfig(env)})
  return workspaceStore(root, values)
}
