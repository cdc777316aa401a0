import {setMaxListeners} from 'node:events'
import {isErrorOf} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {ActivityPorts} from '../activities/executor.js'
import {isHeld} from '../store/lease.js'
import {removeOrphanedOutput} from '../store/output-files.js'
import {dueRuns} from '../store/runs.js'
import {type Driven, type DriveOptions, driveRun} from './drive.js'
import {ScheduledWorkflows} from './scheduled.js'

/** Maximum number of runs in the process at the same time. */
const maxRuns = 16
/** Interval at which due runs are looked for, ms. */
const pollMs = 500

/** Starts scheduled workflows, and continues runs whose processes have ended or whose waits are over. */
export interface WorkflowRunner {
  /** Looks for due runs now, after the tables have changed. */
  wake(): void
  /** Interrupts the runs; other processes can continue them. */
  stop(): Promise<void>
}

export interface RunnerOptions {
  readonly ports: ActivityPorts
  /** Called for each entry of a journal, after it is stored. */
  readonly onEntry?: DriveOptions['onEntry']
}

export function startWorkflowRunner(context: WorkspaceContext, {ports, onEntry}: RunnerOptions): WorkflowRunner {
  const over = new AbortController()
  setMaxListeners(0, over.signal)
  const running = new Map<string, Driven>()
  const failed = new Map<string, number>()
  const start = (runId: string) => {
    try {
      const driven = driveRun(context, runId, {ports, onEntry, signal: over.signal, stays: false, kind: 'daemon'})
      running.set(runId, driven)
      driven.done
        .catch((error: unknown) => {
          if (over.signal.aborted || isErrorOf(error, 'workflow_lease_lost')) return
          // The definition of the run may be invalid for this program: it is tried again later.
          failed.set(runId, context.now() + retryMs)
          logger('svc.workflow').warn({err: error, run_id: runId}, 'cannot continue a run')
        })
        .finally(() => running.delete(runId))
    } catch (error) {
      if (isErrorOf(error, 'workflow_lease_held') || isErrorOf(error, 'store_busy')) return
      failed.set(runId, context.now() + retryMs)
      logger('svc.workflow').warn({err: error, run_id: runId}, 'cannot continue a run')
    }
  }
  const scheduled = new ScheduledWorkflows(context)
  const startScheduled = () => {
    try {
      scheduled.start()
    } catch (error) {
      // The next look tries again.
      if (!isErrorOf(error, 'store_busy')) logger('svc.workflow').warn({err: error}, 'cannot start scheduled workflows')
    }
  }
  const look = () => {
    if (over.signal.aborted) return
    startScheduled()
    for (const driven of running.values()) driven.check()
    for (const run of dueRuns(context, maxRuns + running.size + failed.size)) {
      const {run_id: runId} = run
      if (running.size >= maxRuns) return
      if (running.has(runId) || (failed.get(runId) ?? 0) > context.now() || isHeld(run, context.now())) continue
      start(runId)
    }
  }
  // A command that has deleted runs may have been killed before it deleted their files.
  removeOrphanedOutput(context.store)
  const timer = setInterval(look, pollMs)
  look()
  return {
    wake: look,
    async stop() {
      clearInterval(timer)
      over.abort(new Error('The daemon stops.'))
      await Promise.allSettled([...running.values()].map(({done}) => done))
    },
  }
}

/** Time after which a run that could not be continued is tried again, ms. */
const retryMs = 60_000
