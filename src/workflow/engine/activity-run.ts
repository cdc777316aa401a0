import {SvcError} from '../../errors/index.js'
import {forwardAbort, pause, startTimer} from '../../process/index.js'
import {failedOutput} from '../activities/exec.js'
import type {ActivityOutcome, Call, Executor} from '../activities/executor.js'
import {executors} from '../activities/executors.js'
import {withdrawTasks} from '../activities/task.js'
import type {ActivityKind, ActivityStep} from '../definition/definition.js'
import {attemptStartedAtMs, recordAttempt, recordStarted, type WaitingNote} from '../store/activities.js'
import {argumentHash, cachedResult, cacheResult} from '../store/cache.js'
import type {StepEvent} from '../store/journal.js'
import {leaseTtlMs} from '../store/lease.js'
import {ActivityFailure, Cancellation, failureText, NotReached, Suspension} from './control-errors.js'
import type {Kept, RunLog} from './run-log.js'
import type {Condition, Waits} from './waits.js'

const maxBackoffMs = 60_000
/** Time to take back what one activity has handed on, ms. */
const withdrawalMs = 30_000

interface Attempt {
  readonly attempt: number
  /** The first attempt of this process. */
  readonly isFirst: boolean
}

/** Runs one activity, which has no result yet: its attempts, with their rows and entries. */
export class ActivityRun {
  readonly #step: ActivityStep
  readonly #base: Omit<Call, 'attempt'>
  readonly #executor: Executor<ActivityKind>
  readonly #log: RunLog
  readonly #waits: Waits
  /** Identifies the call in the cache. */
  readonly #hash: string | undefined
  /** Number of the last attempt of an earlier process. */
  readonly #earlier: number
  readonly #names: {readonly activity: string; readonly activity_id: string}

  constructor(step: ActivityStep, call: Omit<Call, 'attempt'>, {log, waits}: {log: RunLog; waits: Waits}) {
    this.#step = step
    this.#base = call
    this.#executor = executors[step.activity.kind] as Executor<ActivityKind>
    this.#log = log
    this.#waits = waits
    this.#hash = step.cacheMs === 0 ? undefined : argumentHash(call.key.workflow, call.args)
    this.#earlier = log.attemptOf(call.key)?.attempt ?? 0
    this.#names = {activity: step.name, activity_id: call.key.activityId}
  }

  /**
   * Runs attempts until one succeeds or no more are allowed, unless an equal call is cached. @returns the result
   * @throws ActivityFailure, Suspension; workflow_lease_lost; the reason of the signal
   */
  async result(signal: AbortSignal): Promise<unknown> {
    const {context, key} = this.#base
    const cached = this.#hash === undefined ? undefined : cachedResult(context, key.activityId, this.#hash)
    if (cached !== undefined) return this.#useCached(cached.result_json)
    const {maxAttempts, continuesOnError} = this.#step
    const {isOpen = false, failures: earlierFailures = 0} = this.#log.attemptOf(key) ?? {}
    // A wait that was interrupted continues: nothing of it is repeated.
    const continues = this.#executor.type === 'wait' && isOpen && !this.#executor.isWithdrawn?.(this.#base)
    // Failures before a wait count: the run has left the process since. Every resumption of a failed step begins again.
    const failed = continues ? earlierFailures % maxAttempts : 0
    for (let failures = failed; ; failures++) {
      const attempt = this.#earlier + failures - failed + (continues ? 0 : 1)
      try {
        return await this.#attempt({attempt, isFirst: failures === 0}, continues && failures === failed, signal)
      } catch (error) {
        if (signal.aborted) throw signal.reason
        if (isControl(error)) throw error
        await this.#failed(error, attempt, failures, signal)
        if (failures + 1 < maxAttempts) continue
        // A run that ends takes it back itself.
        if (continuesOnError) await this.withdraw(attempt, failureText(error), signal)
        return this.#giveUp(error)
      }
    }
  }

  /** Takes back what attempts have handed to others, up to a number. @returns true if something was taken back */
  async withdraw(attempt: number, reason: string, signal: AbortSignal): Promise<boolean> {
    const executor = this.#executor
    if (executor.type !== 'work') return false
    const call = {...this.#base, attempt}
    let event: StepEvent | undefined
    let isWithdrawn = false
    try {
      event = await withTimeout(withdrawalMs, signal, async (limited) => executor.withdraw?.(call, reason, limited))
      isWithdrawn = event !== undefined
    } catch (error) {
      if (signal.aborted) throw signal.reason
      event = {event: 'MeshActivity', mesh_op: 'withdraw', control: 'withdraw_failed', reason: failureText(error)}
    }
    if (event !== undefined) this.#log.write(() => this.#log.journal.append({...event, ...this.#names}))
    return isWithdrawn
  }

  /** @param isOngoing true for an interrupted wait, whose start is recorded already */
  async #attempt({attempt, isFirst}: Attempt, isOngoing: boolean, signal: AbortSignal): Promise<unknown> {
    const log = this.#log
    const executor = this.#executor
    const call: Call = {...this.#base, attempt}
    if (executor.type === 'pure')
      return log.write(
        () => {
          this.#announce({attempt, isFirst})
          return this.#finish(attempt, executor.run(call))
        },
        {defers: true},
      )
    if (!isOngoing)
      log.write(() => {
        this.#start({attempt, isFirst}, noteOf(this.#step, call.args))
        if (executor.type === 'wait') executor.begin?.(call)
      })
    signal.throwIfAborted()
    if (executor.type === 'wait') return this.#wait(executor, call, signal)
    const outcome = await this.#waits.during(() =>
      withTimeout(this.#step.timeoutMs, signal, (limited) => executor.run(call, limited)),
    )
    return log.write(() => this.#finish(attempt, outcome))
  }

  /** Waits until the activity is ready, and records its result in the same transaction as what it consumes. */
  async #wait(executor: Executor<ActivityKind> & {type: 'wait'}, call: Call, signal: AbortSignal): Promise<unknown> {
    const {name, timeoutMs, activity} = this.#step
    const {key, context, args, attempt} = call
    const {key: signalKey, prompt} = args as {key?: string; prompt?: string}
    // An interruption does not prolong an attempt.
    const limitMs = timeoutMs === undefined ? undefined : attemptStartedAtMs(context, key, attempt) + timeoutMs
    const wakeAtMs = executor.wakeAtMs?.(call)
    const condition: Condition = {
      name,
      kind: activity.kind,
      key: signalKey,
      prompt,
      wakeAtMs: limitMs === undefined ? wakeAtMs : Math.min(limitMs, wakeAtMs ?? limitMs),
      isReady: () => executor.isReady(call) || (limitMs !== undefined && context.now() >= limitMs),
    }
    if (!condition.isReady()) await this.#waits.until(condition, signal)
    if (!executor.isReady(call)) throw new SvcError('workflow_activity_timeout', {activity: name, ms: timeoutMs ?? 0})
    const outcome = this.#log.write(() => {
      const end = executor.finish(call)
      return 'failure' in end ? end : {result: this.#finish(attempt, end)}
    })
    if ('failure' in outcome) throw outcome.failure
    return outcome.result
  }

  #useCached(json: string): unknown {
    const log = this.#log
    log.write(() => {
      log.record(this.#base.key, {name: this.#step.name, json})
      log.journal.append({event: 'ActivityCacheHit', ...this.#names, arg_hash: this.#hash as string})
      log.journal.append({event: 'ActivityCompleted', ...this.#names, from_cache: true})
    })
    return (JSON.parse(json) as Kept).result
  }

  /** Records the start of an attempt, within a transaction. */
  #start({attempt, isFirst}: Attempt, note?: WaitingNote, earlier = this.#earlier): void {
    const {journal, owner} = this.#log
    const {context, key} = this.#base
    recordStarted(context, key, {seq: this.#log.nextSeq(), name: this.#step.name, note})
    recordAttempt(context, key, {attempt, status: 'started', owner, leaseUntilMs: context.now() + leaseTtlMs})
    const {runId: run_id, workflow} = key
    if (isFirst) journal.emit({type: 'activity_started', run_id, workflow, ...this.#names})
    this.#announce({attempt, isFirst}, earlier)
  }

  /** Adds the entries about the start of the first attempt. */
  #announce({attempt, isFirst}: Attempt, earlier = this.#earlier): void {
    if (!isFirst) return
    const {journal} = this.#log
    const {activity, maxAttempts, timeoutMs} = this.#step
    journal.append({
      event: 'ActivityTask',
      ...this.#names,
      execution_boundary: activity.kind === 'mesh' ? 'mesh' : 'local',
      max_attempts: maxAttempts,
      timeout_ms: timeoutMs ?? null,
      idempotency_key: this.#base.key.activityId,
    })
    journal.append({event: 'ActivityStarted', ...this.#names})
    if (earlier > 0)
      journal.append({
        event: 'ActivityAttemptRecovered',
        ...this.#names,
        resume_attempt: attempt,
        max_attempts_window: maxAttempts,
      })
  }

  /** Records the result of an attempt, within a transaction. */
  #finish(attempt: number, outcome: ActivityOutcome): unknown {
    const {context, key} = this.#base
    const json = this.#log.complete(key, this.#step, outcome, attempt)
    const {activityId} = key
    if (this.#hash !== undefined)
      cacheResult(context, {activityId, hash: this.#hash, json, windowMs: this.#step.cacheMs})
    return outcome.result
  }

  /** Records a failed attempt, and waits before the next one. @param failures number of failures before it */
  async #failed(error: unknown, attempt: number, failures: number, signal: AbortSignal): Promise<void> {
    const {journal} = this.#log
    const {context, key} = this.#base
    const {maxAttempts, backoffMs} = this.#step
    const names = this.#names
    const text = failureText(error)
    const isLast = failures + 1 >= maxAttempts
    const delayMs = Math.min(maxBackoffMs, backoffMs * 2 ** failures)
    this.#log.write(() => {
      // The start of a pure activity was rolled back with it.
      if (this.#executor.type === 'pure') this.#start({attempt, isFirst: failures === 0}, undefined, 0)
      recordAttempt(context, key, {attempt, status: 'failed', error: text, output: failedOutput(error)})
      withdrawTasks(context, key.runId, text, key.activityId)
      journal.append({event: 'ActivityAttemptFailed', ...names, attempt, max_attempts: maxAttempts, error: text})
      if (isLast) return
      journal.append({event: 'ActivityRetryScheduled', ...names, attempt, next_attempt: attempt + 1, delay_ms: delayMs})
      const {runId: run_id, workflow} = key
      journal.emit({type: 'activity_retried', run_id, workflow, ...names, attempt, error: text})
    })
    if (!isLast) await this.#waits.during(() => pause(delayMs, signal))
  }

  /** The result of an activity whose failure does not end the run. @throws ActivityFailure otherwise */
  #giveUp(error: unknown): unknown {
    const text = failureText(error)
    if (!this.#step.continuesOnError) throw new ActivityFailure(text, {cause: error})
    const result = {error: text, ...failedOutput(error)}
    const event: StepEvent = {event: 'LocalActivity', status: 'executed', classification: 'local'}
    this.#log.write(() => this.#log.complete(this.#base.key, this.#step, {result, event, failed: true}))
    return result
  }
}

/** What an activity that waits for a person or a program shows. */
function noteOf({activity: {kind}}: ActivityStep, args: Call['args']): WaitingNote | undefined {
  if (kind !== 'signal' && kind !== 'approval') return undefined
  const {key, prompt} = args as {key: string; prompt?: string}
  return {signal_key: key, prompt}
}

/** Ends of a run that are not failures of an activity. */
const isControl = (error: unknown): boolean =>
  error instanceof ActivityFailure ||
  error instanceof Cancellation ||
  error instanceof NotReached ||
  error instanceof Suspension ||
  (error instanceof SvcError && controlCodes.has(error.code))

const controlCodes: ReadonlySet<string> = new Set([
  'workflow_lease_lost',
  'store_busy',
  'store_unwritable',
  'store_damaged',
  'store_moved',
])

/** Runs work with a time limit. @throws workflow_activity_timeout */
async function withTimeout<T>(
  ms: number | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (ms === undefined) return work(signal)
  const limit = new AbortController()
  const stopListening = forwardAbort(signal, limit)
  const timeout = new SvcError('workflow_activity_timeout', {activity: 'The activity', ms})
  const timer = startTimer(() => limit.abort(timeout), ms)
  try {
    return await work(limit.signal)
  } finally {
    timer.stop()
    stopListening()
  }
}
