import {setTimeout as sleep} from 'node:timers/promises'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import {type KeptOutput, processStart, startTimer} from '../../process/index.js'
import {isTransient} from '../../store/index.js'
import {type DaemonLease, type Judged, runLimit, type TaskRun} from '../../tasks/index.js'
import {recordWork} from '../../telemetry/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {Outcome, Processor, RunReport} from '../processors/processor.js'
import {settleOutcome} from './settle-outcome.js'

/** Why a run is ended from outside. */
type Ending = 'claim_lost' | 'timeout' | 'budget_exceeded' | 'draining'

/** The abort reason of a run. */
class RunEnded extends Error {
  override readonly name = 'RunEnded'
  constructor(readonly ending: Ending) {
    super(ending)
  }
}

/** A task that a processor of this process is running. */
export interface RunningTask {
  readonly run: TaskRun
  /** Resolves when the outcome is stored. */
  readonly done: Promise<void>
  end(why: Ending): void
}

/** Interval between two writes of a task's output, ms. */
const outputMs = 250
/** Delay before a process is recorded again after a locked store prevented it, ms. */
const processMs = 100

/**
 * Runs a task and stores its outcome under the generation with which it was started. Time is measured with a monotonic
 * clock.
 */
export function runTask(
  context: WorkspaceContext,
  lease: DaemonLease,
  run: TaskRun,
  processor: Processor,
): RunningTask {
  const {task} = run
  const controller = new AbortController()
  const over = new AbortController()
  const end = (why: Ending) => {
    if (why === 'claim_lost' || why === 'draining') over.abort()
    controller.abort(new RunEnded(why))
  }
  const {ms, reason} = runLimit(context.config, {...task, ...task.budget})
  const timer = startTimer(() => end(reason), ms)
  const {report, storeOutput, close} = reportOf(run)
  const startedMs = performance.now()
  const record = (outcome: 'success' | 'failure') =>
    recordRun(context, run, {outcome, durationMs: performance.now() - startedMs, limitMs: ms})
  const done = work(run, {processor, report, signal: controller.signal})
    .then(
      ({outcome, judged}) =>
        settle(context, lease, run, over.signal, () => {
          storeOutput()
          settleOutcome(context, run, judged, outcome)
          record('success')
        }),
      (error: unknown) =>
        settle(context, lease, run, over.signal, () => {
          storeOutput()
          failRun(run, error)
          record('failure')
        }),
    )
    .finally(() => {
      timer.stop()
      close()
    })
  return {run, done, end}
}

function recordRun(
  context: WorkspaceContext,
  {task}: TaskRun,
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

/** Runs the processor and evaluates the completion gates; nothing is stored yet. */
async function work(
  run: TaskRun,
  {processor, report, signal}: {processor: Processor; report: RunReport; signal: AbortSignal},
): Promise<{outcome: Outcome; judged: Judged}> {
  await run.baseline()
  const outcome = await processor.run(run.task, report, signal)
  const result = {...outcome.details, text: outcome.text}
  const onCheck = (pid: number) => report.process(pid, processStart(pid) ?? '')
  return {outcome, judged: await run.judge(result, {signal, onCheck})}
}

/** The report interface of a run, with functions to store its last output and to stop the timer of the next piece. */
function reportOf(run: TaskRun): {report: RunReport; storeOutput(): number; close(): void} {
  let output: KeptOutput | undefined
  let stored = 0
  let timer: NodeJS.Timeout | undefined
  /** Returns the offset up to which the output is stored. Callers use it only after the transaction is committed. */
  const storeOutput = () => (output === undefined ? stored : run.output(output, stored))
  const storePiece = () => {
    timer = undefined
    try {
      stored = storeOutput()
    } catch (error) {
      // The next write includes this piece, or the end of the run includes everything; an error at the end fails the
      // task.
      logger('svc.orchestrator').warn({err: error}, `cannot store the output of ${run.task.display_id} yet`)
    }
  }
  let processTimer: NodeJS.Timeout | undefined
  /** Retried while the store cannot be written, because a run that works should not be ended for this. */
  const writeProcess: RunReport['process'] = (pid, start) => {
    if (!isWritten(() => run.process(pid, start))) processTimer = setTimeout(() => writeProcess(pid, start), processMs)
  }
  const report: RunReport = {
    output: (written) => {
      output = written
      timer ??= setTimeout(storePiece, outputMs)
    },
    // Progress is not worth failing a task: it is dropped while the store cannot be written.
    phase: (phase) => void isWritten(() => run.phase(phase)),
    message: (message) => void isWritten(() => run.message(message)),
    process: writeProcess,
  }
  const close = () => {
    clearTimeout(timer)
    clearTimeout(processTimer)
  }
  return {report, storeOutput, close}
}

/** False if the store cannot be written at the moment. */
function isWritten(write: () => void): boolean {
  try {
    write()
    return true
  } catch (error) {
    if (isTransient(error)) return false
    throw error
  }
}

function failRun(run: TaskRun, error: unknown): void {
  if (error instanceof RunEnded) endRun(run, error.ending)
  else {
    const failure = SvcError.from(error)
    // Errors of the task or its template are permanent.
    const isFinal = failure.code.startsWith('exec_')
    if (failure.code === 'task_run_failed' || isFinal) run.fail(failure.message, {isFinal})
    else run.release(`${failure.code}: ${failure.message}`)
  }
  run.idle()
}

/** Applies an end from outside to the task; does nothing if the task belongs to another holder by now. */
function endRun(run: TaskRun, ending: Ending): void {
  if (ending === 'timeout') run.fail(ending)
  if (ending === 'budget_exceeded') run.fail(ending, {isFinal: true})
  if (ending === 'draining') run.requeue('daemon_stopped')
}

/**
 * Writes the end of a run in one transaction under the lease. A late end is not an error: the task belongs to another
 * holder. If the end cannot be written, the task fails; otherwise it would run forever. While the disk is full, the result
 * waits in memory.
 * @param over aborts when the daemon stops or the task is another's: then a full disk is not waited for
 * @throws daemon_replaced, store_busy, store_unwritable
 */
async function settle(
  context: WorkspaceContext,
  lease: DaemonLease,
  run: TaskRun,
  over: AbortSignal,
  write: () => void,
): Promise<void> {
  const onUnwritable = (error: unknown) =>
    logger('svc.orchestrator').error({err: error}, `the result of ${run.task.display_id} cannot be stored yet`)
  const store = (work: () => void) => whileUnwritable(() => lease.write(work), {over, onUnwritable})
  try {
    await store(write)
  } catch (error) {
    if (isErrorOf(error, 'daemon_replaced') || isTransient(error)) throw error
    const reason = `its result cannot be stored: ${SvcError.from(error).message}`
    if (!isErrorOf(error, 'claim_lost')) await store(() => run.fail(reason, {isFinal: true}))
  }
  // The command and the checks have ended, whichever process holds the task now.
  if (run.task.processor === 'exec' || context.config.behavioralGateOnComplete) await store(() => run.forgetProcess())
}

/** Interval between attempts to write to a full disk, ms. */
const unwritableMs = 1000

/**
 * Repeats a write while the disk is full.
 * @param onUnwritable called once, before the first repetition
 * @throws store_unwritable when the signal aborts
 */
async function whileUnwritable(
  write: () => Promise<void>,
  {over, onUnwritable}: {over: AbortSignal; onUnwritable: (error: unknown) => void},
): Promise<void> {
  for (let isFirst = true; ; isFirst = false)
    try {
      return await write()
    } catch (error) {
      if (!isErrorOf(error, 'store_unwritable') || over.aborted) throw error
      if (isFirst) onUnwritable(error)
      await sleep(unwritableMs, undefined, {signal: over}).catch(() => undefined)
    }
}
