import {setTimeout as sleep} from 'node:timers/promises'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import type {KeptOutput} from '../../tasks/index.js'
import {
  appendEvent,
  completeTask,
  emitCost,
  failTask,
  giveBackTask,
  requeueRow,
  requireRow,
  type Started,
  type Task,
  type TaskContext,
  type TranscriptEntry,
  toTask,
  type Usage,
  writeOutput,
} from '../../tasks/index.js'
import type {Outcome, Processor, RunReport} from '../processors/processor.js'

import {type Lease, requireLease} from './lease.js'

/** Why a run is ended from outside. */
export type Ending = 'claim_lost' | 'timeout' | 'draining'

/** What a run is aborted with. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded'
  constructor(readonly ending: Ending) {
    super(ending)
  }
}

export interface Run {
  readonly taskId: number
  readonly agentId: number
  readonly generation: number
  /** Resolves when its end is in the store. */
  readonly done: Promise<void>
  end(why: Ending): void
}

const transcriptLength = 10
/** Between two pieces of output of one task that are stored, ms. */
const outputMs = 250
/** After which a process is written down that the lock of another one kept from it, ms. */
const processMs = 100

/**
 * Runs a task and writes its end under the generation that it was started with. Time is counted by the machine's
 * running, not by its clock.
 */
export function startRun(context: TaskContext, lease: Lease, started: Started, processor: Processor): Run {
  const {task, generation} = started
  const controller = new AbortController()
  const end = (why: Ending) => controller.abort(new RunEnded(why))
  const timer = setTimeout(() => end('timeout'), task.task_timeout_ms ?? context.config.taskTimeoutMs)
  const {report, storeOutput, close} = reportOf(context, started)
  const done = Promise.resolve()
    .then(() => processor.run(task, report, controller.signal))
    .then(
      (outcome) =>
        settle(context, lease, started, () => {
          storeOutput()
          writeOutcome(context, started, outcome)
        }),
      (error: unknown) =>
        settle(context, lease, started, () => {
          storeOutput()
          writeFailure(context, started, error)
        }),
    )
    .finally(() => {
      clearTimeout(timer)
      close()
    })
  return {taskId: task.id, agentId: task.agent_id, generation, done, end}
}

/** What a run tells, and the two ends of what it writes: its last piece, and the timer of the next one. */
function reportOf(
  context: TaskContext,
  {task, generation}: Started,
): {report: RunReport; storeOutput(): void; close(): void} {
  const {store, now} = context
  /** What a run that no longer counts tells is not written. */
  const whileClaimed = (write: (task: Task) => void) =>
    store.transaction(() => {
      const row = requireRow(context, task.id)
      if (row.status === 'InProgress' && row.claim_generation === generation) write(toTask(row))
    })
  /** What is only told is not worth a task: a locked store does without it. */
  const writeWhileClaimed = (write: (task: Task) => void) => {
    try {
      whileClaimed(write)
    } catch (error) {
      if (!isErrorOf(error, 'store_busy')) throw error
    }
  }
  let output: KeptOutput | undefined
  let stored = 0
  let timer: NodeJS.Timeout | undefined
  /** Gives how far the output is stored once the transaction is committed. */
  const storeOutput = (): number => {
    const written = output
    let next = stored
    if (written !== undefined && written.total > stored)
      whileClaimed(({id}) => {
        next = writeOutput(context, id, generation, written, stored)
      })
    return next
  }
  const storePiece = () => {
    timer = undefined
    try {
      stored = storeOutput()
    } catch (error) {
      // The next piece is stored with this one, or the end of the run with all of it; a fault ends the run there.
      logger('svc.orchestrator').warn({err: error}, `the output of ${task.display_id} is not stored yet`)
    }
  }
  let processTimer: NodeJS.Timeout | undefined
  /** Written later where the store is locked: that is no reason to end what runs well. */
  const writeProcess: RunReport['process'] = (pid, start) => {
    try {
      whileClaimed(({id}) => {
        store.run('UPDATE orch_tasks SET run_process = ? WHERE id = ?', [JSON.stringify({pid, start}), id])
      })
    } catch (error) {
      if (!isErrorOf(error, 'store_busy')) throw error
      processTimer = setTimeout(() => writeProcess(pid, start), processMs)
    }
  }
  const report: RunReport = {
    output: (written) => {
      output = written
      timer ??= setTimeout(storePiece, outputMs)
    },
    phase: (phase) =>
      writeWhileClaimed(({id, agent_id}) => {
        store.run('UPDATE orch_tasks SET current_phase = ?, updated_at_ms = ? WHERE id = ?', [phase, now(), id])
        store.run("UPDATE orch_agents SET activity = 'thinking', last_active_ms = ? WHERE id = ?", [now(), agent_id])
        appendEvent(context, {type: 'task_phase_changed', task_id: id, agent_id, phase})
      }),
    message: (message) =>
      writeWhileClaimed(({id, agent_id, agent_name, transcript}) => {
        const entry: TranscriptEntry = {agent_id, agent_name, message, timestamp_ms: now()}
        store.run('UPDATE orch_tasks SET transcript = ? WHERE id = ?', [
          JSON.stringify([...transcript, entry].slice(-transcriptLength)),
          id,
        ])
      }),
    process: writeProcess,
  }
  const close = () => {
    clearTimeout(timer)
    clearTimeout(processTimer)
  }
  return {report, storeOutput, close}
}

function writeOutcome(context: TaskContext, {task, generation}: Started, outcome: Outcome): void {
  const {task: completed} = completeTask(context, task.id, {...outcome.details, text: outcome.text}, {generation})
  idle(context, completed)
  if (outcome.usage !== undefined) charge(context, completed, outcome.usage)
}

function writeFailure(context: TaskContext, started: Started, error: unknown): void {
  const {task, generation} = started
  if (error instanceof RunEnded) writeEnding(context, started, error.ending)
  else {
    const failure = SvcError.from(error)
    // What is wrong with the task or its template does not heal by itself.
    const isFinal = failure.code.startsWith('exec_')
    if (failure.code === 'task_run_failed' || isFinal)
      failTask(context, task.id, failure.message, {generation, isFinal})
    else giveBackTask(context, task.id, `${failure.code}: ${failure.message}`, {generation})
  }
  idle(context, task)
}

/** What an end from outside means for the task; one that is somebody else's by now is left alone. */
function writeEnding(context: TaskContext, {task, generation}: Started, ending: Ending): void {
  if (ending === 'timeout') failTask(context, task.id, 'timeout', {generation})
  if (ending !== 'draining') return
  const row = requireRow(context, task.id)
  if (row.status === 'InProgress' && row.claim_generation === generation) requeueRow(context, row, 'daemon_stopped')
}

const idle = ({store, now}: TaskContext, {agent_id: id}: Task): void => {
  store.run("UPDATE orch_agents SET activity = 'idle', last_active_ms = ? WHERE id = ?", [now(), id])
}

function charge(context: TaskContext, {id, agent_id}: Task, usage: Usage): void {
  const {inputTokens, outputTokens, costUsd} = usage
  context.store.run(
    'UPDATE orch_agents SET tokens_used = tokens_used + ?, cost_usd_micros = cost_usd_micros + ? WHERE id = ?',
    [inputTokens + outputTokens, Math.round(costUsd * 1e6), agent_id],
  )
  emitCost(context, usage, {task_id: id, agent_id})
}

/** How often a locked store is tried before the daemon gives up, each time after the driver's own patience. */
const tries = 5

/**
 * Writes the end of a run in one transaction, while this process holds the lease. An end that comes too late is no
 * error: the task is somebody else's. An end that cannot be written fails the task, which would else be run for ever.
 * @throws daemon_replaced, store_busy
 */
async function settle(context: TaskContext, lease: Lease, started: Started, write: () => void): Promise<void> {
  try {
    await writeHeld(context, lease, write)
  } catch (error) {
    if (isErrorOf(error, 'daemon_replaced') || isErrorOf(error, 'store_busy')) throw error
    if (!isErrorOf(error, 'claim_lost')) await writeHeld(context, lease, () => writeFault(context, started, error))
  }
  // The command has ended, whoever has the task now.
  if (started.task.processor === 'exec') await writeHeld(context, lease, () => forgetProcess(context, started))
}

function writeFault(context: TaskContext, {task, generation}: Started, error: unknown): void {
  failTask(context, task.id, `its result cannot be kept: ${SvcError.from(error).message}`, {generation, isFinal: true})
}

const forgetProcess = ({store}: TaskContext, {task}: Started): void => {
  store.run('UPDATE orch_tasks SET run_process = NULL WHERE id = ?', [task.id])
}

/** One transaction under the lease, tried again while somebody else writes. */
async function writeHeld(context: TaskContext, lease: Lease, write: () => void): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      context.store.transaction(() => {
        requireLease(context, lease)
        write()
      })
      return
    } catch (error) {
      if (!isErrorOf(error, 'store_busy') || attempt === tries) throw error
      await sleep(100 * attempt)
    }
}
