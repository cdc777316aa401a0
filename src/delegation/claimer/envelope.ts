import {createHash} from 'node:crypto'
import {withoutUndefined} from '../../contracts/index.js'
import {claimerId, type RemoteEnvelope, type RemoteWork} from '../../mesh/index.js'
import {runLimit, type Task, taskEnvelope} from '../../tasks/index.js'
import type {OrchestratorConfig, WorkspaceContext} from '../../workspace/index.js'
import type {DelegationRow} from '../rows.js'
import type {SentFile} from './remote-files.js'

/** The envelope of a delegation. A command is never sent: the worker runs its own template of that name. */
export function envelopeOf(
  context: WorkspaceContext,
  task: Task,
  delegation: DelegationRow,
  files: readonly SentFile[],
): RemoteEnvelope {
  const {config, repositoryId, now} = context
  const {idempotency_key, lease_id, task_uid, reply_to_agent_id} = delegation
  const {session_id, thread_id, trace_id, campaign_id} = task
  return {
    idempotency_key,
    task_id: task.id,
    task_uid,
    repository_id: repositoryId,
    capability_requirements_json: JSON.stringify({
      ...task.capability_requirements,
      ...withoutUndefined({required_secrets: task.exec?.secrets}),
    }),
    payload: JSON.stringify(workOf(context, task, files)),
    submitted_unix_ms: now(),
    reply_to_agent_id,
    trace_id,
    span_depth: 0,
    ...withoutUndefined({
      mesh_scope_id: config.scopeId,
      exec_lease_id: lease_id ?? undefined,
      fence_token: lease_id === null ? undefined : Number(lease_id),
      campaign_id,
      session_id,
      thread_id,
    }),
  }
}

function workOf(context: WorkspaceContext, task: Task, files: readonly SentFile[]): RemoteWork {
  const {ms} = runLimit(context.config, {...task, ...task.budget})
  return {
    task_description: task.description,
    assigned_agent_id: task.agent_id,
    processor: task.processor === 'exec' ? 'exec' : 'ai',
    category: task.category,
    complexity: task.complexity,
    files,
    ...withoutUndefined({
      session_id: task.session_id,
      thread_id: task.thread_id,
      context_envelope_json: taskEnvelope(context, task.id),
      harness_spec_json: task.harness === undefined ? undefined : JSON.stringify(task.harness),
      template: task.exec?.template,
      params: task.exec?.params,
      model_preference: task.model_preference,
      model_override: task.model_override,
      timeout_ms: Number.isFinite(ms) ? Math.max(1, Math.round(ms)) : undefined,
    }),
  }
}

/**
 * Inbox of a workspace for the messages of its workers: the configured agent, or one that no other workspace has.
 * Agent ids are below 2^53, so that JSON numbers can hold them.
 */
export function replyAgentOf({meshRemoteExecuteSenderAgent: configured}: OrchestratorConfig, claimer: string): string {
  if (configured !== undefined) return configured
  const digest = createHash('sha256').update(claimer).digest()
  return String(digest.readBigUInt64BE() >> 11n)
}

/** Node id under which a workspace holds its leases. */
export const claimerOf = ({config, repositoryId}: Pick<WorkspaceContext, 'config' | 'repositoryId'>): string =>
  claimerId({nodeId: config.meshNode.nodeId, scopeId: config.scopeId, repositoryId})
