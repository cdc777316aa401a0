import type {WorkspaceContext} from '../../workspace/index.js'
import {readState, writeState} from '../base/state.js'
import type {OrchestratorEvent} from './event.js'
import {readEvents} from './event-log.js'

/** An award to an agent for the outcome of a doubt. */
export interface Award {
  task_id: number
  agent_id: number
  award: 'healthy_skepticism' | 'internal_affairs' | 'blind_faith'
  points: number
  report: string
  awarded_at_ms: number
}

const points: Readonly<Record<Award['award'], number>> = {
  healthy_skepticism: 200,
  internal_affairs: 200,
  blind_faith: 0,
}

/** Matches a report that found an agent to be sycophantic. */
const tooAgreeable = /\b(over-?agreeable|sycophan\w*|agreed? (?:too|with everything)|yes-?man)\b/i

/**
 * Grants awards for `task_resolved` events. A justified doubt is rewarded, with an additional award if it uncovered a
 * sycophantic agent; an unjustified doubt is recorded. Each event counts only once, even if this runs repeatedly or in
 * several processes.
 */
export function awardForResolutions(context: WorkspaceContext): void {
  const {store, repositoryId, now} = context
  const since = readState(context, 'awards_cursor') ?? 0
  const events = readEvents(context, {since, types: ['task_resolved']})
  for (const {id, kind} of events) {
    const {task_id, agent_id, validated, report} = kind as Extract<OrchestratorEvent, {type: 'task_resolved'}>
    for (const award of awardsFor(validated, report))
      store.run(
        `INSERT INTO orch_awards (repository_id, event_id, task_id, agent_id, award, points, report, awarded_at_ms)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        [repositoryId, id, task_id, agent_id, award, points[award], report, now()],
      )
  }
  const last = events.at(-1)
  if (last !== undefined) writeState(context, 'awards_cursor', last.id)
}

function awardsFor(validated: boolean, report: string): Award['award'][] {
  if (validated) return ['blind_faith']
  return tooAgreeable.test(report) ? ['healthy_skepticism', 'internal_affairs'] : ['healthy_skepticism']
}

/** The awards of a task, oldest first. */
export const awardsOf = ({store, repositoryId}: WorkspaceContext, taskId: number): Award[] =>
  store.all<Award>(
    `SELECT task_id, agent_id, award, points, report, awarded_at_ms FROM orch_awards
WHERE repository_id = ? AND task_id = ? ORDER BY id`,
    [repositoryId, taskId],
  )
