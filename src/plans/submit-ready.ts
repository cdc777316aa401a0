import {createHash} from 'node:crypto'
import {type SubmitTaskV1, withoutUndefined} from '../contracts/index.js'
import {type ErrorCode, isErrorOf, SvcError} from '../errors/index.js'
import {type Accepted, linkLineage, submitTask} from '../tasks/index.js'
import type {WorkspaceContext} from '../workspace/index.js'

import type {PlanNode} from './node.js'
import {holdNode, setNodeStatus} from './node-status.js'
import {type PlanRow, readyNodes, requireNode} from './plan-rows.js'
import {carriedBy} from './submission.js'

interface Refused {
  node_id: string
  error: SvcError
}

/**
 * Submits every pending node whose dependencies are completed. A rejected node is held with the reason and retried.
 */
export function submitReady(context: WorkspaceContext, plan: PlanRow): {accepted: Accepted[]; refused: Refused[]} {
  const {plan_session_id, current_version: version} = plan
  const accepted: Accepted[] = []
  const refused: Refused[] = []
  // A rejection that applies to all nodes is not repeated for each of them.
  let closed: SvcError | undefined = context.config.planningEnabled ? undefined : new SvcError('planning_disabled', {})
  for (const node_id of readyNodes(context, plan_session_id, version)) {
    const node = {plan_session_id, version, node_id}
    const outcome = closed ?? trySubmit(context, plan, requireNode(context, node))
    if (!(outcome instanceof SvcError)) {
      accepted.push(outcome)
      continue
    }
    if (closing.has(outcome.code)) closed = outcome
    refused.push({node_id, error: outcome})
    holdNode(context, node, `${outcome.code}: ${outcome.message}`)
  }
  return {accepted, refused}
}

/** Rejections that apply to every node. */
const closing: ReadonlySet<ErrorCode> = new Set(['queue_full', 'orchestrator_disabled', 'stopped', 'planning_disabled'])

/** Rejections that concern a node or a temporary state, not the store. */
const refusals: ReadonlySet<ErrorCode> = new Set([
  'lock_conflict',
  'scope_denied',
  'queue_full',
  'max_agents_reached',
  'orchestrator_disabled',
  'stopped',
  'doom_loop',
  'budget_exceeded',
  'task_invalid',
  'task_path_escapes',
  'agent_not_found',
  'dependency_failed',
  'dependency_unknown',
])

/** @returns the task, or the rejection */
function trySubmit(context: WorkspaceContext, plan: PlanRow, node: PlanNode, agent?: string): Accepted | SvcError {
  try {
    return submitNode(context, plan, node, agent)
  } catch (error) {
    // The agent that holds the files also gets the node, which waits in its queue.
    if (agent === undefined && isErrorOf(error, 'lock_conflict'))
      return trySubmit(context, plan, node, error.params.holder)
    if (error instanceof SvcError && refusals.has(error.code)) return error
    throw error
  }
}

/** Submits one node in its own savepoint, so that a rejected node leaves nothing behind. */
const submitNode = (context: WorkspaceContext, plan: PlanRow, node: PlanNode, agent: string | undefined): Accepted =>
  context.store.transaction(() => {
    const {plan_session_id, current_version: version} = plan
    const {node_id} = node
    const accepted = submitTask(context, submissionOf(context, plan, node, agent), {
      submitter: plan.executed_by ?? 'person',
    })
    const {task_id: taskId} = accepted
    context.store.run('INSERT INTO plan_node_tasks (task_id, plan_session_id, version, node_id) VALUES (?, ?, ?, ?)', [
      taskId,
      plan_session_id,
      version,
      node_id,
    ])
    linkLineage(context, taskId, {plan_session_id, node_id})
    setNodeStatus(context, {plan_session_id, version, node_id}, 'queued', {taskId})
    return accepted
  })

/** The task of a node. A node without dependencies waits for the tasks that the submitted goal depends on. */
function submissionOf(
  {config}: WorkspaceContext,
  plan: PlanRow,
  {node_id, description, depends_on, policy}: PlanNode,
  agent: string | undefined,
): SubmitTaskV1 {
  const {plan_session_id, origin_session_id, tenant_id} = plan
  const {depends_on: before, enqueue_hints: hints, ...carried} = carriedBy(plan)
  return {
    priority: 'normal',
    ...carried,
    description,
    file_manifest: [...policy.file_manifest],
    thread_id: threadOf(plan_session_id, node_id),
    ...withoutUndefined({
      depends_on: depends_on.length === 0 ? before : undefined,
      requires_approval: config.planningAutoModeEnabled ? carried.requires_approval : true,
      enqueue_hints: policy.enqueue_hints === undefined ? hints : {...hints, ...policy.enqueue_hints},
      session_id: origin_session_id ?? undefined,
      tenant_id: tenant_id ?? undefined,
      target_agent: agent ?? carried.target_agent,
    }),
  }
}

/** The thread id of a node, the same in every version and process. */
const threadOf = (planId: string, nodeId: string): string =>
  `plan-${createHash('sha256').update(`${planId}:${nodeId}`).digest('hex').slice(0, 16)}`
