import {createHash} from 'node:crypto'
import type {SubmitTaskV1} from '../contracts/index.js'
import {type ErrorCode, isErrorOf, SvcError} from '../errors/index.js'
import {linkLineage, submitTask, type TaskContext, withoutUndefined} from '../tasks/index.js'

import type {PlanNode} from './node.js'
import {holdNode, setNodeStatus} from './node-status.js'
import {type PlanRow, readyNodes, requireNode} from './plan-rows.js'

interface Refused {
  node_id: string
  error: SvcError
}

/**
 * Submits every pending node whose dependencies are completed. A rejected node is held with the reason and retried.
 */
export function submitReady(context: TaskContext, plan: PlanRow): {taskIds: number[]; refused: Refused[]} {
  const {plan_session_id, current_version: version} = plan
  const taskIds: number[] = []
  const refused: Refused[] = []
  // A rejection that applies to all nodes is not repeated for each of them.
  let closed: SvcError | undefined = context.config.planningEnabled ? undefined : new SvcError('planning_disabled', {})
  for (const node_id of readyNodes(context, plan_session_id, version)) {
    const node = {plan_session_id, version, node_id}
    const outcome = closed ?? trySubmit(context, plan, requireNode(context, node))
    if (typeof outcome === 'number') {
      taskIds.push(outcome)
      continue
    }
    if (closing.has(outcome.code)) closed = outcome
    refused.push({node_id, error: outcome})
    holdNode(context, node, `${outcome.code}: ${outcome.message}`)
  }
  return {taskIds, refused}
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
])

/** @returns the id of the task, or the rejection */
function trySubmit(context: TaskContext, plan: PlanRow, node: PlanNode, agent?: string): number | SvcError {
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
const submitNode = (context: TaskContext, plan: PlanRow, node: PlanNode, agent: string | undefined): number =>
  context.store.transaction(() => {
    const {plan_session_id, current_version: version} = plan
    const {node_id} = node
    const {task_id: taskId} = submitTask(context, submissionOf(context, plan, node, agent), {
      submitter: plan.executed_by ?? 'person',
    })
    context.store.run('INSERT INTO plan_node_tasks (task_id, plan_session_id, version, node_id) VALUES (?, ?, ?, ?)', [
      taskId,
      plan_session_id,
      version,
      node_id,
    ])
    linkLineage(context, taskId, {plan_session_id, node_id})
    setNodeStatus(context, {plan_session_id, version, node_id}, 'queued', {taskId})
    return taskId
  })

function submissionOf(
  {config}: TaskContext,
  {plan_session_id, origin_session_id, tenant_id}: PlanRow,
  {node_id, description, policy}: PlanNode,
  agent: string | undefined,
): SubmitTaskV1 {
  return {
    description,
    priority: 'normal',
    file_manifest: [...policy.file_manifest],
    thread_id: threadOf(plan_session_id, node_id),
    ...withoutUndefined({
      requires_approval: config.planningAutoModeEnabled ? undefined : true,
      enqueue_hints: policy.enqueue_hints,
      session_id: origin_session_id ?? undefined,
      tenant_id: tenant_id ?? undefined,
      target_agent: agent,
    }),
  }
}

/** The thread id of a node, the same in every version and process. */
const threadOf = (planId: string, nodeId: string): string =>
  `plan-${createHash('sha256').update(`${planId}:${nodeId}`).digest('hex').slice(0, 16)}`
