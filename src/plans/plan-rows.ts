import {nearest, SvcError} from '../errors/index.js'
import type {Submitter} from '../tasks/index.js'
import type {WorkspaceContext} from '../workspace/index.js'
import type {ExecutionPolicy, PlanNode} from './node.js'
import type {NodeStatus, PlanStatusWord, PlanStrategy, Verdict} from './vocabulary.js'

/** A row of `plan_sessions`. */
export interface PlanRow {
  plan_session_id: string
  repository_id: string
  origin_session_id: string | null
  tenant_id: string | null
  goal_text: string
  /** Paths of the goal's files, relative to the root of the workspace. */
  scope_files_json: string
  strategy: PlanStrategy
  current_version: number
  status: PlanStatusWord
  executed_by: Submitter | null
  /** What its tasks take over from the submission of the goal. */
  submission_json: string | null
  created_at: number
  updated_at: number
}

/** A row of `plan_versions`, without its keys. */
export interface VersionRow {
  version: number
  quality_score: number
  reviewer_verdict: Verdict
}

const columns =
  'plan_session_id, repository_id, origin_session_id, tenant_id, goal_text, scope_files_json, strategy, current_version, status, executed_by, submission_json, created_at, updated_at'

/** Maximum number of ids that are searched for a suggestion. */
const maxSuggestions = 500

/** @throws plan_not_found with the nearest id */
export function requirePlan({store, repositoryId}: WorkspaceContext, id: string): PlanRow {
  const row = store.get<PlanRow>(
    `SELECT ${columns} FROM plan_sessions WHERE plan_session_id = ? AND repository_id = ?`,
    [id, repositoryId],
  )
  if (row !== undefined) return row
  const ids = store
    .all<{id: string}>(
      'SELECT plan_session_id AS id FROM plan_sessions WHERE repository_id = ? ORDER BY created_at DESC LIMIT ?',
      [repositoryId, maxSuggestions],
    )
    .map((known) => known.id)
  const suggestion = ids.find((known) => id.length >= minBeginningLength && known.startsWith(id)) ?? nearest(id, ids)
  throw new SvcError('plan_not_found', {plan: id, suggestion})
}

/** `plan-` and four digits; a shorter prefix would match too many plans. */
const minBeginningLength = 9

interface NodeRow {
  node_id: string
  description: string
  dependencies_json: string
  execution_policy_json: string
  status: NodeStatus
  workflow_invocation: string | null
}

const nodeColumns = 'node_id, description, dependencies_json, execution_policy_json, status, workflow_invocation'

/** Nodes of a version, in order. */
export const nodesOf = ({store}: WorkspaceContext, planId: string, version: number): PlanNode[] =>
  store
    .all<NodeRow>(`SELECT ${nodeColumns} FROM plan_nodes WHERE plan_session_id = ? AND version = ? ORDER BY ordinal`, [
      planId,
      version,
    ])
    .map(toNode)

const toNode = (row: NodeRow): PlanNode => ({
  node_id: row.node_id,
  description: row.description,
  depends_on: JSON.parse(row.dependencies_json) as string[],
  policy: JSON.parse(row.execution_policy_json) as ExecutionPolicy,
  status: row.status,
  workflow: row.workflow_invocation,
})

export function requireNode(context: WorkspaceContext, {plan_session_id, version, node_id}: NodeKey): PlanNode {
  const row = context.store.get<NodeRow>(
    `SELECT ${nodeColumns} FROM plan_nodes WHERE plan_session_id = ? AND version = ? AND node_id = ?`,
    [plan_session_id, version, node_id],
  )
  return toNode(row as NodeRow)
}

export interface NodeKey {
  plan_session_id: string
  version: number
  node_id: string
}

/** Ids of pending nodes whose dependencies are completed; reads only the necessary rows of large plans. */
export function readyNodes({store}: WorkspaceContext, planId: string, version: number): string[] {
  const nodes = store.all<Pick<NodeRow, 'node_id' | 'status' | 'dependencies_json'>>(
    `SELECT node_id, status, dependencies_json FROM plan_nodes
WHERE plan_session_id = ? AND version = ? AND status IN ('pending', 'completed') ORDER BY ordinal`,
    [planId, version],
  )
  const completed = new Set(nodes.filter(({status}) => status === 'completed').map(({node_id: id}) => id))
  const isReady = ({status, dependencies_json: ids}: (typeof nodes)[number]) =>
    status === 'pending' && (JSON.parse(ids) as string[]).every((id) => completed.has(id))
  return nodes.filter(isReady).map(({node_id: id}) => id)
}

/** Failed nodes of the latest version. */
export const failedNodes = ({store}: WorkspaceContext, planId: string): string[] =>
  store
    .all<{node_id: string}>(
      `SELECT n.node_id FROM plan_nodes n
  JOIN plan_sessions s ON s.plan_session_id = n.plan_session_id AND s.current_version = n.version
WHERE n.plan_session_id = ? AND n.status IN ('failed', 'cancelled') ORDER BY n.ordinal`,
      [planId],
    )
    .map(({node_id: id}) => id)

/** Active plans with a rejected node. */
export const plansWithHeld = ({store, repositoryId}: WorkspaceContext): PlanRow[] =>
  store.all<PlanRow>(
    `SELECT ${columns} FROM plan_sessions WHERE repository_id = ? AND status = 'active'
  AND (plan_session_id, current_version) IN
    (SELECT plan_session_id, version FROM plan_nodes WHERE held_reason IS NOT NULL AND status = 'pending')`,
    [repositoryId],
  )

export const versionOf = ({store}: WorkspaceContext, {plan_session_id: id, current_version: version}: PlanRow) =>
  store.get<VersionRow>(
    'SELECT version, quality_score, reviewer_verdict FROM plan_versions WHERE plan_session_id = ? AND version = ?',
    [id, version],
  ) as VersionRow

export interface NewVersion extends VersionRow {
  parent?: number
  /** The cause of this version. */
  trigger?: {event: string; payload: object}
  nodes: readonly PlanNode[]
}

/**
 * Inserts a version with its nodes. Does not make it the latest version. A node from the previous version keeps its
 * time of change.
 */
export function insertVersion({store, now}: WorkspaceContext, planId: string, version: NewVersion): void {
  const {parent, trigger, nodes} = version
  const at = now()
  store.run(
    `INSERT INTO plan_versions (plan_session_id, version, parent_version, trigger_event, trigger_payload_json,
  quality_score, reviewer_verdict, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      planId,
      version.version,
      parent ?? null,
      trigger?.event ?? null,
      trigger === undefined ? null : JSON.stringify(trigger.payload),
      version.quality_score,
      version.reviewer_verdict,
      at,
    ],
  )
  for (const [i, {node_id, description, depends_on, policy, status, workflow}] of nodes.entries())
    store.run(
      `INSERT INTO plan_nodes (plan_session_id, version, node_id, ordinal, description, dependencies_json,
  execution_policy_json, status, workflow_invocation, created_at, updated_at)
VALUES (@plan, @version, @id, @ordinal, @description, @dependencies, @policy, @status, @workflow, @at, coalesce(
  (SELECT updated_at FROM plan_nodes WHERE plan_session_id = @plan AND version = @parent AND node_id = @id), @at))`,
      {
        plan: planId,
        version: version.version,
        parent: parent ?? null,
        id: node_id,
        ordinal: i + 1,
        description,
        dependencies: JSON.stringify(depends_on),
        policy: JSON.stringify(policy),
        status,
        workflow,
        at,
      },
    )
}

/** The next node number of a plan: node ids are unique across versions. */
export function nextNodeNumber({store}: WorkspaceContext, planId: string): number {
  const row = store.get<{last: number | null}>(
    'SELECT max(CAST(substr(node_id, 2) AS INTEGER)) AS last FROM plan_nodes WHERE plan_session_id = ?',
    [planId],
  )
  return (row?.last ?? 0) + 1
}

/** Links the tasks of nodes that are also in the next version to that version. */
export const carryTasks = ({store}: WorkspaceContext, planId: string, from: number, to: number): void => {
  store.run(
    `UPDATE plan_node_tasks SET version = @to WHERE plan_session_id = @plan AND version = @from
  AND node_id IN (SELECT node_id FROM plan_nodes WHERE plan_session_id = @plan AND version = @to)`,
    {plan: planId, from, to},
  )
}

/** Marks the unfinished nodes of a version as superseded. */
export const supersedeOpen = ({store, now}: WorkspaceContext, planId: string, version: number): void => {
  store.run(
    `UPDATE plan_nodes SET status = 'superseded', held_reason = NULL, updated_at = ? WHERE plan_session_id = ? AND version = ?
  AND status IN ('pending', 'queued', 'in_progress')`,
    [now(), planId, version],
  )
}

export interface PlanChanges {
  goal_text?: string
  strategy?: PlanStrategy
  current_version?: number
  status?: PlanStatusWord
  tenant_id?: string
  executed_by?: Submitter
}

export function updatePlan({store, now}: WorkspaceContext, planId: string, changes: PlanChanges): void {
  const names = Object.keys(changes)
  store.run(
    `UPDATE plan_sessions SET ${names.map((name) => `${name} = ?, `).join('')}updated_at = ? WHERE plan_session_id = ?`,
    [...Object.values(changes), now(), planId],
  )
}
