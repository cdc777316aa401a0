import type {OrchestratorContext} from '../context.js'
import type {Task} from '../tasks/task.js'

export type LineageKind = 'task_submitted' | 'task_completed' | 'task_failed' | 'task_delegated'

type Subject = Pick<Task, 'id' | 'agent_id' | 'session_id' | 'journey_id' | 'thread_id' | 'trace_id' | 'correlation_id'>

/** Writes what became of a task where it is kept for years; nothing while lineage is switched off. */
export function appendLineage(
  context: OrchestratorContext,
  kind: LineageKind,
  task: Subject,
  facts: object = {},
): void {
  const {store, repositoryId, now, config} = context
  if (config.lineageOff) return
  const {id, agent_id, session_id, journey_id, thread_id, trace_id, correlation_id} = task
  store.run(
    'INSERT INTO orchestration_lineage_events (repository_id, kind, task_id, agent_id, session_id, payload_json, created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [
      repositoryId,
      kind,
      id,
      agent_id,
      session_id ?? null,
      JSON.stringify({journey_id, thread_id, trace_id, correlation_id, ...facts}),
      now(),
    ],
  )
}
