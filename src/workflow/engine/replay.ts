import {isDeepStrictEqual} from 'node:util'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {ActivityPorts} from '../activities/executor.js'
import {lastError, recordedResults} from '../store/activities.js'
import {Journal} from '../store/journal.js'
import {type RunStatus, requireRun} from '../store/runs.js'
import {ActivityFailure, NotReached} from './control-errors.js'
import {Execution} from './execution.js'
import {workflowOf} from './runs.js'
import {Waits} from './waits.js'

/** What a run yields when its workflow is evaluated again with the recorded results. */
export interface Replay {
  readonly run_id: string
  readonly workflow: string
  /** Status of the run in the tables. */
  readonly status: RunStatus
  /** Number of activities with a recorded result. */
  readonly activities: number
  /** Output of the evaluation; absent if it did not reach the end. */
  readonly output?: unknown
  /** Error of the evaluation; absent if it reached the end. */
  readonly error?: string
  /** The first activity without a result; absent if the evaluation reached the end. */
  readonly stopped_at?: string
  /** The evaluation has the outcome that the tables record. */
  readonly reproduced: boolean
}

/**
 * Evaluates a run again from its recorded results. Nothing is executed or written.
 * @throws workflow_run_not_found, workflow_invalid
 */
export async function replayRun(context: WorkspaceContext, runId: string): Promise<Replay> {
  const run = requireRun(context, runId)
  const {workflow_name: workflow, status} = run
  const waits = new Waits(context.now, () => undefined)
  const execution = new Execution(context, {...run, is_unwinding: 1}, workflowOf(run), {
    ports: noPorts,
    journal: new Journal(context, {workflow, runId}),
    waits,
    owner: '',
    onCancel: () => undefined,
  })
  const base = {run_id: runId, workflow, status, activities: recordedResults(context, runId).size}
  try {
    const output = await execution.steps(new AbortController().signal)
    const recorded = run.output_json === null ? null : JSON.parse(run.output_json)
    return {...base, output, reproduced: status === 'completed' && isDeepStrictEqual(output, recorded)}
  } catch (error) {
    if (error instanceof NotReached) {
      const {activityId: stopped_at} = error
      const failure = lastError(context, runId, stopped_at)
      if (status === 'failed' && failure !== undefined)
        return {...base, error: failure, stopped_at, reproduced: run.last_error?.startsWith(failure) ?? false}
      return {...base, stopped_at, reproduced: status !== 'completed' && status !== 'failed'}
    }
    if (!(error instanceof ActivityFailure)) throw error
    return {...base, error: error.message, reproduced: run.last_error?.startsWith(error.message) ?? false}
  }
}

const refuse = (): never => {
  throw new TypeError('a replay executes nothing')
}

const noPorts: ActivityPorts = {
  env: {},
  transcribe: undefined,
  generate: refuse,
  mesh: undefined,
  countLocalNodes: refuse,
}
