import type {WorkspaceContext} from '../../workspace/index.js'
import type {BaselineFile} from './inspect.js'

/** The state of the listed files of a task at its first claim. */
export interface Baseline {
  /** Unix ms. */
  taken_at_ms: number
  files: readonly BaselineFile[]
}

/** Stores a baseline, unless the task has one: later claims continue the same work. */
export function storeBaseline({store, repositoryId}: WorkspaceContext, taskId: number, baseline: Baseline): void {
  store.run(
    `INSERT INTO orch_task_evidence (task_id, repository_id, baseline) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET baseline = coalesce(baseline, excluded.baseline)`,
    [taskId, repositoryId, JSON.stringify(baseline)],
  )
}

export const readBaseline = ({store}: WorkspaceContext, taskId: number): Baseline | undefined =>
  parsed(
    store.get<{json: string | null}>('SELECT baseline AS json FROM orch_task_evidence WHERE task_id = ?', [taskId]),
  )

const parsed = <T>(row: {json: string | null} | undefined): T | undefined =>
  row?.json == null ? undefined : (JSON.parse(row.json) as T)

/** Stores the latest evaluation of a task. */
export function storeEvaluation(
  {store, repositoryId, now}: WorkspaceContext,
  taskId: number,
  evaluation: object,
): void {
  store.run(
    `INSERT INTO orch_task_evidence (task_id, repository_id, evaluation, evaluated_at_ms) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET evaluation = excluded.evaluation, evaluated_at_ms = excluded.evaluated_at_ms`,
    [taskId, repositoryId, JSON.stringify(evaluation), now()],
  )
}

export const readEvaluation = <T>({store}: WorkspaceContext, taskId: number): T | undefined =>
  parsed(
    store.get<{json: string | null}>('SELECT evaluation AS json FROM orch_task_evidence WHERE task_id = ?', [taskId]),
  )
