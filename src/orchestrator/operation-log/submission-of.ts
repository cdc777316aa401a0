import {type ManifestEntry, type SubmitTaskV1, withoutUndefined} from '../../contracts/index.js'
import {agentRows, type TaskRequest, type TaskRow, taskEnvelope} from '../../tasks/index.js'
import {priorities, type WorkspaceContext} from '../../workspace/index.js'

/**
 * Reconstructs the submission of a task from its row, for its current agent if that still exists. The idempotency key
 * is omitted because it stays with the existing task.
 */
export function submissionOf(context: WorkspaceContext, row: TaskRow): SubmitTaskV1 {
  const {
    depends_on,
    exec,
    capability_requirements,
    requires_approval,
    task_timeout_ms,
    retries,
    harness,
    retrieval,
    socrates_context,
    is_targeted: _,
    ...hints
  } = JSON.parse(row.request) as TaskRequest
  const agent = agentRows(context).find(({id, kind}) => id === row.agent_id && kind !== 'resolution')
  return {
    description: row.description,
    priority: priorities[row.priority],
    file_manifest: JSON.parse(row.file_manifest) as ManifestEntry[],
    depends_on: [...depends_on],
    processor: row.processor,
    trace_id: row.trace_id,
    enqueue_hints: {
      ...(hints as NonNullable<SubmitTaskV1['enqueue_hints']>),
      task_category: row.category,
      complexity: row.complexity,
      ...(socrates_context === undefined ? {} : {socrates_context: {...socrates_context}}),
      ...withoutUndefined({execution_role: row.execution_role ?? undefined, campaign_id: row.campaign_id ?? undefined}),
    },
    ...withoutUndefined({
      target_agent: agent?.name,
      exec: exec as SubmitTaskV1['exec'],
      capability_requirements: capability_requirements as SubmitTaskV1['capability_requirements'],
      requires_approval,
      task_timeout_ms,
      retries,
      harness_spec_json: harness === undefined ? undefined : JSON.stringify(harness),
      context_envelope_json: taskEnvelope(context, row.id),
      retrieval: retrieval as SubmitTaskV1['retrieval'],
      not_before_ms: row.start_after_ms ?? undefined,
      journey_id: row.journey_id ?? undefined,
      session_id: row.session_id ?? undefined,
      thread_id: row.thread_id ?? undefined,
      correlation_id: row.correlation_id ?? undefined,
      tenant_id: row.tenant_id ?? undefined,
    }),
  }
}
