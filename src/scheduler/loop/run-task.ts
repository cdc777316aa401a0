import {setTimeout as sleep} from 'node:timers/promises'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import {type KeptOutput, processStart, startTimer} from '../../process/index.js'
import {recordExchange, sessionsOf} from '../../sessions/index.js'
import {
  appendEvent,
  applyJudgement,
  type Completion,
  chargeAgent,
  excerpt,
  failTask,
  giveBackTask,
  type Judged,
  judgeCompletion,
  recordBaseline,
  requeueRow,
  requireRow,
  runLimit,
  type Started,
  type Task,
  type TaskContext,
  type TranscriptEntry,
  toTask,
  writeOutput,
} from '../../tasks/index.js'
import {recordWork} from '../../telemetry/index.js'
import type {Outcome, Processor, RunReport} from '../processors/processor.js'

import {type Lease, requireLease} from './lease.js'

/** Why a run is ended from outside. */
export type Ending = 'claim_lost' | 'timeout' | 'budget_exceeded' | 'draining'

/** The abort reason of a run. */
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
  /** Resolves when the outcome is stored. */
  readonly done: Promise<void>
  end(why: Ending): void
}

const transcriptLength = 10
/** Length of the beginning of a message in a metric, characters. */
const longestTurn = 16_384
/** Interval between two writes of a task's output, ms. */
const outputMs = 250
/** Delay before a process is recorded again after a locked store prevented it, ms. */
const processMs = 100

/**
 * Runs a task and stores its outcome under the generation with which it was started. Time is measured with a monotonic
 * clock.
 */
export function startRun(context: TaskContext, lease: Lease, started: Started, processor: Processor): Run {
  const {task, generation} = started
  const controller = new AbortController()
  const end = (why: Ending) => controller.abort(new RunEnded(why))
  const {ms, reason} = runLimit(context.config, {...task, ...task.budget})
  const timer = startTimer(() => end(reason), ms)
  const {report, storeOutput, close} = reportOf(context, started)
  const startedMs = performance.now()
  const record = (outcome: 'success' | 'failure') =>
    recordRun(context, started, {outcome, durationMs: performance.now() - startedMs, limitMs: ms})
  const done = work(context, started, {processor, report, signal: controller.signal})
    .then(
      (finished) =>
        settle(context, lease, started, () => {
          storeOutput()
          writeOutcome(context, finished)
          record('success')
        }),
      (error: unknown) =>
        settle(context, lease, started, () => {
          storeOutput()
          writeFailure(context, started, error)
          record('failure')
        }),
    )
    .finally(() => {
      timer.stop()
      close()
    })
  return {taskId: task.id, agentId: task.agent_id, generation, done, end}
}

function recordRun(
  context: TaskContext,
  {task}: Started,
  {outcome, durationMs, limitMs}: {outcome: 'success' | 'failure'; durationMs: number; limitMs: number},
): void {
  const {id, agent_id} = task
  recordWork(context, 'agent_exec_time', {
    value: durationMs,
    details: {
      task_id: id,
      agent_id,
      processor: task.processor === 'exec' ? 'exec' : 'ai',
      outcome,
      ...(Number.isFinite(limitMs) ? {timeout_budget_ms: Math.round(limitMs)} : {}),
    },
  })
}

interface Finished {
  outcome: Outcome
  judged: Judged
}

/** Runs the processor and evaluates the completion gates; nothing is stored yet. */
async function work(
  context: TaskContext,
  started: Started,
  {processor, report, signal}: {processor: Processor; report: RunReport; signal: AbortSignal},
): Promise<Finished> {
  const {task, generation} = started
  await recordBaseline(context, started)
  const outcome = await processor.run(task, report, signal)
  const result = {...outcome.details, text: outcome.text}
  const onCheck = (pid: number) => report.process(pid, processStart(pid) ?? '')
  return {outcome, judged: await judgeCompletion(context, task.id, result, {generation}, {signal, onCheck})}
}

/** The report interface of a run, with functions to store its last output and to stop the timer of the next piece. */
function reportOf(
  context: TaskContext,
  {task, generation}: Started,
): {report: RunReport; storeOutput(): void; close(): void} {
  const {store, now} = context
  /** Writes only while the run holds its claim. */
  const whileClaimed = (write: (task: Task) => void) =>
    store.transaction(() => {
      const row = requireRow(context, task.id)
      if (row.status === 'InProgress' && row.claim_generation === generation) write(toTask(row))
    })
  /** Progress is not worth failing a task: it is dropped while the store is locked. */
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
  /** Returns the offset up to which the output is stored. Callers use it only after the transaction is committed. */
  const storeOutput = (): number => {
    const written = output
    let next = stored
    if (written !== undefined && written.total > stored)
      whileClaimed(({id, agent_id}) => {
        next = writeOutput(context, id, generation, written, stored)
        store.run('UPDATE orch_agents SET last_active_ms = ? WHERE id = ?', [now(), agent_id])
      })
    return next
  }
  const storePiece = () => {
    timer = undefined
    try {
      stored = storeOutput()
    } catch (error) {
      // The next write includes this piece, or the end of the run includes everything; an error at the end fails the
      // task.
      logger('svc.orchestrator').warn({err: error}, `cannot store the output of ${task.display_id} yet`)
    }
  }
  let processTimer: NodeJS.Timeout | undefined
  /** Retried while the store is locked, because a run that works should not be ended for this. */
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
        recordWork(context, 'task_phase_change', {details: {task_id: id, phase, timestamp_ms: now()}})
      }),
    message: (message) =>
      writeWhileClaimed(({id, agent_id, agent_name, transcript}) => {
        const entry: TranscriptEntry = {agent_id, agent_name, message, timestamp_ms: now()}
        store.run('UPDATE orch_tasks SET transcript = ? WHERE id = ?', [
          JSON.stringify([...transcript, entry].slice(-transcriptLength)),
          id,
        ])
        recordWork(context, 'task_turn', {details: {...entry, task_id: id, message: excerpt(message, longestTurn)}})
      }),
    process: writeProcess,
  }
  const close = () => {
    clearTimeout(timer)
    clearTimeout(processTimer)
  }
  return {report, storeOutput, close}
}

/** Stores a judged outcome with its usage, in a transaction of the caller. @throws as `applyJudgement` */
export function writeOutcome(context: TaskContext, {outcome, judged}: Finished): Completion {
  const row = requireRow(context, judged.id)
  // Before the completion, which ends the spending without a completed task.
  if (outcome.usage !== undefined) chargeAgent(context, row.agent_id, outcome.usage, row.id)
  const completion = applyJudgement(context, judged)
  if (row.processor === 'ai')
    recordExchange(sessionsOf(context), row.session_id ?? undefined, {
      question: row.description,
      answer: outcome.text,
      ...outcome.usage,
    })
  idle(context, completion.task)
  return completion
}

function writeFailure(context: TaskContext, started: Started, error: unknown): void {
  const {task, generation} = started
  if (error instanceof RunEnded) writeEnding(context, started, error.ending)
  else {
    const failure = SvcError.from(error)
    // Errors of the task or its template are permanent.
    const isFinal = failure.code.startsWith('exec_')
    if (failure.code === 'task_run_failed' || isFinal)
      failTask(context, task.id, failure.message, {generation, isFinal})
    else giveBackTask(context, task.id, `${failure.code}: ${failure.message}`, {generation})
  }
  idle(context, task)
}

/** Applies an end from outside to the task; does nothing if the task belongs to another holder by now. */
function writeEnding(context: TaskContext, {task, generation}: Started, ending: Ending): void {
  if (ending === 'timeout') failTask(context, task.id, ending, {generation})
  if (ending === 'budget_exceeded') failTask(context, task.id, ending, {generation, isFinal: true})
  if (ending !== 'draining') return
  const row = requireRow(context, task.id)
  if (row.status === 'InProgress' && row.claim_generation === generation) requeueRow(context, row, 'daemon_stopped')
}

const idle = ({store, now}: TaskContext, {agent_id: id}: Task): void => {
  store.run("UPDATE orch_agents SET activity = 'idle', last_active_ms = ? WHERE id = ?", [now(), id])
}

/** Number of attempts with a locked store before the daemon gives up, each after the driver's own timeout. */
const tries = 5

/**
 * Writes the end of a run in one transaction under the lease. A late end is not an error: the task belongs to another
 * holder. If the end cannot be written, the task fails; otherwise it would run forever.
 * @throws daemon_replaced, store_busy
 */
async function settle(context: TaskContext, lease: Lease, started: Started, write: () => void): Promise<void> {
  try {
    await writeHeld(context, lease, write)
  } catch (error) {
    if (isErrorOf(error, 'daemon_replaced') || isErrorOf(error, 'store_busy')) throw error
    if (!isErrorOf(error, 'claim_lost')) await writeHeld(context, lease, () => writeFault(context, started, error))
  }
  // The command and the checks have ended, whichever process holds the task now.
  if (started.task.processor === 'exec' || context.config.behavioralGateOnComplete)
    await writeHeld(context, lease, () => forgetProcess(context, started))
}

function writeFault(context: TaskContext, {task, generation}: Started, error: unknown): void {
  failTask(context, task.id, `its result cannot be stored: ${SvcError.from(error).message}`, {
    generation,
    isFinal: true,
  })
}

const forgetProcess = ({store}: TaskContext, {task}: Started): void => {
  store.run('UPDATE orch_tasks SET run_process = NULL WHERE id = ?', [task.id])
}

/** Runs one transaction under the lease, retried while another process writes. */
export async function writeHeld(context: TaskContext, lease: Lease, write: () => void): Promise<void> {
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
