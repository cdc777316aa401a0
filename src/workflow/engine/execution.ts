import {createHash} from 'node:crypto'
import {SvcError} from '../../errors/index.js'
import {pause, startTimer} from '../../process/index.js'
import type {TaskContext} from '../../tasks/index.js'
import {failedOutput} from '../activities/exec.js'
import type {ActivityPorts, Call, Executor, Outcome} from '../activities/executor.js'
import {checkVersion, executors} from '../activities/executors.js'
import {withdrawTasks} from '../activities/task.js'
import type {
  ActivityKind,
  ActivityStep,
  BranchStep,
  ForEachStep,
  ParallelStep,
  Step,
  StepResult,
  Workflow,
} from '../definition/definition.js'
import {type Expression, ExpressionFailure, type Scope} from '../definition/expression.js'
import {
  type ActivityKey,
  attemptStartedAtMs,
  type LastAttempt,
  lastAttempts,
  lastSeq,
  type Recorded,
  recordAttempt,
  recordCompleted,
  recordedResults,
  recordStarted,
  type WaitingNote,
} from '../store/activities.js'
import {argumentHash, cachedResult, cacheResult} from '../store/cache.js'
import type {Journal, JournalEvent, StepEvent} from '../store/journal.js'
import {leaseTtlMs, renewLease, requireLease} from '../store/lease.js'
import type {RunRow} from '../store/runs.js'
import {ActivityFailure, Cancellation, failureText, NotReached, Suspension} from './ends.js'
import {together} from './together.js'
import type {Condition, Waits} from './waits.js'

/** What an execution needs beside the run. */
export interface ExecutionOptions {
  readonly ports: ActivityPorts
  readonly journal: Journal
  readonly waits: Waits
  /** Owner of the lease of the run. */
  readonly owner: string
  /** Called when somebody has asked for the run to be cancelled. */
  readonly onCancel: () => void
}

/** Where steps are interpreted. */
interface Frame {
  readonly scope: Scope & {readonly steps: Readonly<Record<string, unknown>>}
  /** Positions in the lists of the enclosing loops, such as `[0][3]`. */
  readonly suffix: string
  readonly signal: AbortSignal
  /** A compensation, which runs although the run has failed. */
  readonly isCompensation: boolean
}

/** An activity to undo if the run fails. */
interface Undo {
  /** Position of the result in the run; an interrupted activity is later than all results. */
  readonly seq: number
  readonly step: ActivityStep
  readonly frame: Frame
}

type Worker = Executor<ActivityKind> & {type: 'work'}

/** What an activity has handed to others, which is taken back if the run ends without success. */
interface HandedOn {
  readonly step: ActivityStep
  readonly worker: Worker
  readonly call: Call
}

/** A result with the entry that describes it, as kept in the tables. */
interface Kept {
  readonly result: unknown
  readonly event: StepEvent
  /** The activity failed, and the failure was tolerated. */
  readonly failed?: true
}

const maxResultBytes = 1 << 20
const maxItems = 10_000
/** Minimum time between two renewals of the lease by steps, ms. */
const renewalMs = 1000
const longestBackoffMs = 60_000
/** Time to take back what one activity has handed on, ms. */
const withdrawalMs = 30_000

/**
 * Interprets a workflow. An activity with a recorded result is not repeated: its result is used. The interpretation is
 * therefore the same in every process, as far as results are recorded.
 */
export class Execution {
  readonly #context: TaskContext
  readonly #run: RunRow
  readonly #workflow: Workflow
  readonly #options: ExecutionOptions
  readonly #recorded: Map<string, Recorded>
  /** The last attempts of activities that an earlier process has started. */
  readonly #attempts: ReadonlyMap<string, LastAttempt>
  readonly #undos: Undo[] = []
  readonly #handedOn: HandedOn[] = []
  /** Entries about replayed activities, which are written with the next step. */
  #backlog: JournalEvent[] = []
  #renewedAtMs = 0
  /** Position of the latest row of an activity. */
  #seq: number

  constructor(context: TaskContext, run: RunRow, workflow: Workflow, options: ExecutionOptions) {
    this.#context = context
    this.#run = run
    this.#workflow = workflow
    this.#options = options
    this.#recorded = recordedResults(context, run.run_id)
    this.#attempts = lastAttempts(context, run.run_id)
    this.#seq = lastSeq(context, run.run_id)
  }

  /**
   * Runs all steps. @returns the output of the workflow
   * @throws ActivityFailure, Cancellation, Suspension, NotReached; workflow_lease_lost; the reason of the signal
   */
  async steps(signal: AbortSignal): Promise<unknown> {
    const frame = this.#frame(signal)
    const {result, steps} = await this.#block(this.#workflow.steps, frame)
    const {output} = this.#workflow
    if (output === undefined) return result ?? null
    return evaluated('output', () => output({...frame.scope, steps}))
  }

  /** Runs the compensations of the completed activities, the latest first. @returns the errors of those that failed */
  async compensate(signal: AbortSignal): Promise<string[]> {
    const failures: string[] = []
    for (const {step, frame} of [...this.#undos].sort((a, b) => b.seq - a.seq))
      try {
        await this.#activity(step, {...frame, signal, isCompensation: true})
      } catch (error) {
        if (!(error instanceof ActivityFailure)) throw error
        failures.push(error.message)
      }
    return failures
  }

  /**
   * Takes back what activities have handed to others. A failure of this does not keep the run from ending.
   * @returns true if something was taken back, so that the results of these activities are not valid any more
   */
  async withdraw(reason: string, signal: AbortSignal): Promise<boolean> {
    let isWithdrawn = false
    for (const handedOn of this.#handedOn) if (await this.#withdraw(handedOn, reason, signal)) isWithdrawn = true
    return isWithdrawn
  }

  get hasHandedOn(): boolean {
    return this.#handedOn.length > 0
  }

  async #withdraw({step, worker, call}: HandedOn, reason: string, signal: AbortSignal): Promise<boolean> {
    let event: StepEvent | undefined
    let isWithdrawn = false
    try {
      event = await withTimeout(withdrawalMs, signal, async (limited) => worker.withdraw?.(call, reason, limited))
      isWithdrawn = event !== undefined
    } catch (error) {
      if (signal.aborted) throw signal.reason
      event = {event: 'MeshActivity', mesh_op: 'withdraw', control: 'withdraw_failed', reason: failureText(error)}
    }
    const names = {activity: step.name, activity_id: call.key.activityId}
    if (event !== undefined) this.write(() => this.#options.journal.append({...event, ...names}))
    return isWithdrawn
  }

  /** Notes while the run unwinds what a completed or interrupted activity may have handed on. */
  #noteHandedOn(step: ActivityStep, key: ActivityKey, frame: Frame): void {
    const worker = executors[step.activity.kind] as Executor<ActivityKind>
    const hasBegun = this.#recorded.has(key.activityId)
      ? this.#recorded.get(key.activityId)?.result_json !== null
      : this.#attempts.has(key.activityId)
    if (!this.#isUnwinding(frame) || worker.type !== 'work' || worker.withdraw === undefined || !hasBegun) return
    const call = {...this.#callOf(step, key, frame), attempt: this.#attempts.get(key.activityId)?.attempt ?? 1}
    this.#handedOn.push({step, worker, call})
  }

  get hasCompensations(): boolean {
    return this.#undos.length > 0
  }

  /**
   * Writes within a transaction that also checks the lease.
   * @param defers its entries can be recorded with those of a later step
   * @throws workflow_lease_lost
   */
  write<T>(work: () => T, {defers = false} = {}): T {
    let isCancelled = false
    const result = this.#withBacklog(
      () => {
        isCancelled = this.#holdLease()
        return work()
      },
      {defers},
    )
    if (isCancelled) this.#options.onCancel()
    return result
  }

  /** Writes the end of the run, which releases the lease. @throws workflow_lease_lost */
  writeEnd(work: () => void): void {
    this.#withBacklog(() => {
      this.#holdLease()
      work()
    })
  }

  /**
   * Steps without a wait keep timers from running, so the lease is also renewed here.
   * @returns true if the run is to be cancelled
   * @throws workflow_lease_lost
   */
  #holdLease(): boolean {
    const lease = {runId: this.#run.run_id, owner: this.#options.owner}
    const isCancelled = requireLease(this.#context, lease)
    const at = this.#context.now()
    if (Math.abs(at - this.#renewedAtMs) >= renewalMs) {
      this.#renewedAtMs = at
      renewLease(this.#context, lease)
    }
    return isCancelled
  }

  /** Runs work in a transaction, after the entries that were not written yet. */
  #withBacklog<T>(work: () => T, options?: {defers: boolean}): T {
    const {journal} = this.#options
    const backlog = this.#backlog
    this.#backlog = []
    try {
      return journal.write(() => {
        // The results of replayed activities are in the journal already.
        for (const event of backlog)
          if (isReplayed(event)) journal.repeat(event)
          else journal.append(event)
        return work()
      }, options)
    } catch (error) {
      this.#backlog = [...backlog, ...this.#backlog]
      throw error
    }
  }

  #frame(signal: AbortSignal): Frame {
    const {run_id: id, workflow_name: workflow, started_at_ms, input_json: input} = this.#run
    return {
      scope: {input: JSON.parse(input), run: {id, workflow, started_at_ms}, steps: {}},
      suffix: '',
      signal,
      isCompensation: false,
    }
  }

  /** Runs steps in order. @returns the result of the last one, and the results with an id */
  async #block(steps: readonly Step[], outer: Frame): Promise<StepResult> {
    // One object for all steps: a copy for each would make long workflows slow.
    const known: Record<string, unknown> = {...outer.scope.steps}
    const frame: Frame = {...outer, scope: {...outer.scope, steps: known}}
    const own: Record<string, unknown> = {}
    let last: unknown = null
    for (const step of steps) {
      frame.signal.throwIfAborted()
      const {result, steps: inner} = await this.#step(step, frame)
      last = result
      for (const results of step.id === undefined ? [inner] : [inner, {[step.id]: result}]) {
        Object.assign(known, results)
        Object.assign(own, results)
      }
    }
    return {result: last, steps: own}
  }

  async #step(step: Step, frame: Frame): Promise<StepResult> {
    switch (step.kind) {
      case 'activity':
        return {result: await this.#activity(step, frame), steps: {}}
      case 'branch':
        return this.#branch(step, frame)
      case 'parallel':
        return this.#unlessSkipped(step, frame, () => this.#parallel(step, frame))
      case 'for_each':
        return this.#unlessSkipped(step, frame, () => this.#forEach(step, frame))
    }
  }

  async #unlessSkipped(
    step: ParallelStep | ForEachStep,
    frame: Frame,
    run: () => Promise<StepResult>,
  ): Promise<StepResult> {
    if (step.when === undefined || this.#holds(step, step.when, frame)) return run()
    return {result: null, steps: {}}
  }

  /** The decision is recorded, so that an adopted definition does not change it. */
  async #branch(step: BranchStep, frame: Frame): Promise<StepResult> {
    const key = this.#key(step, frame)
    const recorded = this.#recorded.get(key.activityId)
    let branch: unknown
    if (recorded === undefined) {
      if (this.#isUnwinding(frame)) throw new NotReached(key.activityId)
      branch = this.#holds(step, step.condition, frame) ? 'then' : 'else'
      const event: StepEvent = {
        event: 'BranchDecision',
        branch: branch as 'then' | 'else',
        decision_source: 'deterministic_condition',
      }
      this.write(() => this.#complete(key, step, {result: branch, event}), {defers: true})
    } else branch = this.#replay(key, step, recorded)
    return this.#block(branch === 'then' ? step.consequent : step.otherwise, frame)
  }

  async #parallel({branches}: ParallelStep, frame: Frame): Promise<StepResult> {
    const names = Object.keys(branches)
    const jobs = names.map((name) => (signal: AbortSignal) => this.#block(branches[name] ?? [], {...frame, signal}))
    const results = await together(jobs, this.#limits(jobs.length, frame))
    return {
      result: Object.fromEntries(names.map((name, i) => [name, results[i]?.result ?? null])),
      steps: Object.assign({}, ...results.map(({steps}) => steps)),
    }
  }

  async #forEach(step: ForEachStep, frame: Frame): Promise<StepResult> {
    const items = evaluated(step.name, () => step.items(frame.scope))
    if (!Array.isArray(items)) throw new ActivityFailure(`${step.name} failed: for_each needs a list.`)
    if (items.length > maxItems)
      throw new ActivityFailure(`${step.name} failed: for_each has ${items.length} items; the maximum is ${maxItems}.`)
    const jobs = items.map((item, index) => async (signal: AbortSignal) => {
      const scope = {...frame.scope, [step.as]: item, index}
      const {result} = await this.#block(step.steps, {...frame, scope, signal, suffix: `${frame.suffix}[${index}]`})
      return result
    })
    return {result: await together(jobs, this.#limits(step.concurrency, frame)), steps: {}}
  }

  async #activity(step: ActivityStep, frame: Frame): Promise<unknown> {
    const key = this.#key(step, frame)
    const recorded = this.#recorded.get(key.activityId)
    this.#noteHandedOn(step, key, frame)
    const result = recorded === undefined ? await this.#fresh(step, key, frame) : this.#replay(key, step, recorded)
    const {compensation} = step
    const done = this.#recorded.get(key.activityId)
    if (compensation !== undefined && done !== undefined && hasSucceeded(done)) {
      const steps = step.id === undefined ? frame.scope.steps : {...frame.scope.steps, [step.id]: result}
      this.#undos.push({seq: done.seq, step: compensation, frame: {...frame, scope: {...frame.scope, steps}}})
    }
    return result
  }

  /** An activity that was interrupted may have had some of its effects, so it is undone like a completed one. */
  #undoInterrupted({compensation: step, activity: {kind}}: ActivityStep, key: ActivityKey, frame: Frame): void {
    if (step === undefined || !this.#attempts.get(key.activityId)?.isOpen) return
    const executor = executors[kind] as Executor<ActivityKind>
    const hasBegun =
      executor.type === 'work' || (executor.type === 'wait' && executor.hasBegun?.({context: this.#context, key}))
    if (!hasBegun) return
    this.#undos.push({seq: Number.MAX_SAFE_INTEGER, step, frame})
  }

  /** The result of an activity that was completed earlier, without a repetition of what it did. */
  #replay({activityId}: ActivityKey, step: Step, {result_json: json}: Recorded): unknown {
    const names = {activity: step.name, activity_id: activityId}
    // An interpretation that only collects results is not part of the run.
    const isLogged = this.#run.is_unwinding === 0
    if (json === null) {
      if (isLogged) this.#backlog.push({event: 'ActivitySkipped', ...names, reason: 'it was skipped earlier'})
      return null
    }
    const {result, event} = JSON.parse(json) as Kept
    if (step.kind === 'activity' && step.activity.kind === 'patch')
      checkVersion(step.name, result, step.activity.args({}))
    if (isLogged)
      this.#backlog.push(
        {event: 'ActivityReplayed', ...names, replay_source: 'workflow_activity_log', result_event: event.event},
        {...event, ...names, ...(event.event === 'WorkflowPatch' ? {replayed: true} : {})},
        {event: 'ActivityCompleted', ...names, replayed: true},
      )
    return result
  }

  async #fresh(step: ActivityStep, key: ActivityKey, frame: Frame): Promise<unknown> {
    if (this.#isUnwinding(frame)) {
      this.#undoInterrupted(step, key, frame)
      throw new NotReached(key.activityId)
    }
    if (step.when !== undefined && !this.#holds(step, step.when, frame)) return this.#skip(step, key)
    const call = this.#callOf(step, key, frame)
    const hash = step.cacheMs === 0 ? undefined : argumentHash(key.workflow, call.args)
    const cached = hash === undefined ? undefined : cachedResult(this.#context, key.activityId, hash)
    if (cached !== undefined) return this.#useCached(step, key, {hash: hash as string, json: cached.result_json})
    const executor = executors[step.activity.kind] as Executor<ActivityKind>
    return this.#attempt(step, executor, call, {hash, signal: frame.signal})
  }

  #callOf(step: ActivityStep, key: ActivityKey, {scope}: Frame): Omit<Call, 'attempt'> {
    return {
      context: this.#context,
      ports: this.#options.ports,
      key,
      name: step.name,
      args: evaluated(step.name, () => step.activity.args(scope)),
      hosts: this.#workflow.hosts,
    }
  }

  /** Runs attempts until one succeeds or no more are allowed. */
  async #attempt(
    step: ActivityStep,
    executor: Executor<ActivityKind>,
    base: Omit<Call, 'attempt'>,
    {hash, signal}: {hash: string | undefined; signal: AbortSignal},
  ): Promise<unknown> {
    const {key} = base
    const {
      attempt: earlier,
      isOpen,
      failures: earlierFailures,
    } = this.#attempts.get(key.activityId) ?? {attempt: 0, isOpen: false, failures: 0}
    // A wait that was interrupted goes on: nothing of it is repeated.
    const continues = executor.type === 'wait' && isOpen && !executor.isWithdrawn?.(base)
    // Failures before a wait count: the run has left the process since. Every resumption of a failed step begins again.
    const failed = continues ? earlierFailures % step.maxAttempts : 0
    for (let failures = failed; ; failures++) {
      const attempt = earlier + failures - failed + (continues ? 0 : 1)
      const call: Call = {...base, attempt}
      const isOngoing = continues && failures === failed
      try {
        if (executor.type === 'pure')
          return this.write(
            () => {
              this.#announce(step, key, {attempt, isFirst: failures === 0, earlier})
              return this.#finish(step, key, {attempt, outcome: executor.run(call), hash})
            },
            {defers: true},
          )
        if (!isOngoing)
          this.write(() => {
            this.#start(step, key, {attempt, isFirst: failures === 0, earlier, note: noteOf(step, base.args)})
            if (executor.type === 'wait') executor.begin?.(call)
          })
        signal.throwIfAborted()
        if (executor.type === 'wait') return await this.#wait(step, executor, call, {attempt, hash, signal})
        const outcome = await this.#options.waits.during(() =>
          withTimeout(step.timeoutMs, signal, (limited) => executor.run(call, limited)),
        )
        return this.write(() => this.#finish(step, key, {attempt, outcome, hash}))
      } catch (error) {
        if (signal.aborted) throw signal.reason
        if (isControl(error)) throw error
        await this.#failed(step, key, {error, attempt, failures, signal})
        if (failures + 1 < step.maxAttempts) continue
        // A run that ends takes it back itself.
        if (step.continuesOnError && executor.type === 'work')
          await this.#withdraw({step, worker: executor, call}, failureText(error), signal)
        return this.#giveUp(step, key, error)
      }
    }
  }

  /** Waits until the activity is ready, and records its result in the same transaction as what it consumes. */
  async #wait(
    step: ActivityStep,
    executor: Executor<ActivityKind> & {type: 'wait'},
    call: Call,
    {attempt, hash, signal}: {attempt: number; hash: string | undefined; signal: AbortSignal},
  ): Promise<unknown> {
    const {key, context, args} = call
    const {key: signalKey, prompt} = args as {key?: string; prompt?: string}
    // An interruption does not prolong an attempt.
    const limitMs =
      step.timeoutMs === undefined ? undefined : attemptStartedAtMs(context, key, attempt) + step.timeoutMs
    const wakeAtMs = executor.wakeAtMs?.(call)
    const condition: Condition = {
      name: step.name,
      kind: step.activity.kind,
      key: signalKey,
      prompt,
      wakeAtMs: limitMs === undefined ? wakeAtMs : Math.min(limitMs, wakeAtMs ?? limitMs),
      isReady: () => executor.isReady(call) || (limitMs !== undefined && context.now() >= limitMs),
    }
    if (!condition.isReady()) await this.#options.waits.until(condition, signal)
    if (!executor.isReady(call))
      throw new SvcError('workflow_activity_timeout', {activity: step.name, ms: step.timeoutMs ?? 0})
    const outcome = this.write(() => {
      const end = executor.finish(call)
      return 'failure' in end ? end : {result: this.#finish(step, key, {attempt, outcome: end, hash})}
    })
    if ('failure' in outcome) throw outcome.failure
    return outcome.result
  }

  #skip(step: ActivityStep, key: ActivityKey): null {
    this.write(
      () => {
        this.#record(key, {name: step.name, json: null})
        const names = {activity: step.name, activity_id: key.activityId}
        this.#options.journal.append({event: 'ActivitySkipped', ...names, reason: 'its condition is false'})
      },
      {defers: true},
    )
    return null
  }

  #useCached(step: ActivityStep, key: ActivityKey, {hash, json}: {hash: string; json: string}): unknown {
    const {journal} = this.#options
    const names = {activity: step.name, activity_id: key.activityId}
    this.write(() => {
      this.#record(key, {name: step.name, json})
      journal.append({event: 'ActivityCacheHit', ...names, arg_hash: hash})
      journal.append({event: 'ActivityCompleted', ...names, from_cache: true})
    })
    return (JSON.parse(json) as Kept).result
  }

  /** Records the start of an attempt, within a transaction. */
  #start(
    step: ActivityStep,
    key: ActivityKey,
    {
      attempt,
      isFirst,
      earlier,
      note,
    }: {attempt: number; isFirst: boolean; earlier: number; note?: WaitingNote | undefined},
  ): void {
    const {journal, owner} = this.#options
    const {runId: run_id, workflow, activityId: activity_id} = key
    recordStarted(this.#context, key, {seq: ++this.#seq, name: step.name, note})
    const leaseUntilMs = this.#context.now() + leaseTtlMs
    recordAttempt(this.#context, key, {attempt, status: 'started', owner, leaseUntilMs})
    if (isFirst) journal.emit({type: 'activity_started', run_id, workflow, activity: step.name, activity_id})
    this.#announce(step, key, {attempt, isFirst, earlier})
  }

  /** Adds the entries about the start of the first attempt. */
  #announce(
    step: ActivityStep,
    {activityId: activity_id}: ActivityKey,
    {attempt, isFirst, earlier}: {attempt: number; isFirst: boolean; earlier: number},
  ): void {
    if (!isFirst) return
    const {journal} = this.#options
    const names = {activity: step.name, activity_id}
    journal.append({
      event: 'ActivityTask',
      ...names,
      execution_boundary: step.activity.kind === 'mesh' ? 'mesh' : 'local',
      max_attempts: step.maxAttempts,
      timeout_ms: step.timeoutMs ?? null,
      idempotency_key: activity_id,
    })
    journal.append({event: 'ActivityStarted', ...names})
    if (earlier > 0)
      journal.append({
        event: 'ActivityAttemptRecovered',
        ...names,
        resume_attempt: attempt,
        max_attempts_window: step.maxAttempts,
      })
  }

  /** Records the result of an attempt, within a transaction. */
  #finish(
    step: ActivityStep,
    key: ActivityKey,
    {attempt, outcome, hash}: {attempt: number; outcome: Outcome; hash: string | undefined},
  ): unknown {
    const json = this.#complete(key, step, outcome, attempt)
    if (hash !== undefined) cacheResult(this.#context, {activityId: key.activityId, hash, json, windowMs: step.cacheMs})
    return outcome.result
  }

  /** Records a result, within a transaction. */
  #record(key: ActivityKey, result: {name: string; json: string | null; attempt?: number | undefined}): void {
    this.#recorded.set(key.activityId, recordCompleted(this.#context, key, {seq: ++this.#seq, ...result}))
  }

  /** Records a result with its entries. @returns what is kept @throws SvcError if the result is too large */
  #complete(key: ActivityKey, step: Step, {result, event, failed}: Kept, attempt?: number): string {
    const {journal} = this.#options
    const {runId: run_id, workflow, activityId: activity_id} = key
    const names = {activity: step.name, activity_id}
    const json = JSON.stringify({result: result ?? null, event, failed})
    if (json.length > maxResultBytes)
      throw new SvcError('workflow_activity_failed', {
        activity: step.name,
        reason: `its result is larger than ${maxResultBytes} bytes`,
      })
    this.#record(key, {name: step.name, json, attempt})
    journal.append({...event, ...names})
    if (step.kind === 'activity') journal.append({event: 'ActivityCompleted', ...names, result})
    journal.emit({type: 'activity_completed', run_id, workflow, ...names})
    return json
  }

  /** Records a failed attempt, and waits before the next one. */
  async #failed(
    step: ActivityStep,
    key: ActivityKey,
    {error, attempt, failures, signal}: {error: unknown; attempt: number; failures: number; signal: AbortSignal},
  ): Promise<void> {
    const {journal, waits} = this.#options
    const names = {activity: step.name, activity_id: key.activityId}
    const text = failureText(error)
    const isLast = failures + 1 >= step.maxAttempts
    const delayMs = Math.min(longestBackoffMs, step.backoffMs * 2 ** failures)
    this.write(() => {
      // The start of a pure activity was rolled back with it.
      if (executors[step.activity.kind].type === 'pure')
        this.#start(step, key, {attempt, isFirst: failures === 0, earlier: 0})
      recordAttempt(this.#context, key, {attempt, status: 'failed', error: text, output: failedOutput(error)})
      withdrawTasks(this.#context, key.runId, text, key.activityId)
      journal.append({event: 'ActivityAttemptFailed', ...names, attempt, max_attempts: step.maxAttempts, error: text})
      if (isLast) return
      journal.append({event: 'ActivityRetryScheduled', ...names, attempt, next_attempt: attempt + 1, delay_ms: delayMs})
      const {runId: run_id, workflow} = key
      journal.emit({type: 'activity_retried', run_id, workflow, ...names, attempt, error: text})
    })
    if (!isLast) await waits.during(() => pause(delayMs, signal))
  }

  /** The result of an activity whose failure does not end the run. @throws ActivityFailure otherwise */
  #giveUp(step: ActivityStep, key: ActivityKey, error: unknown): unknown {
    const text = failureText(error)
    if (!step.continuesOnError) throw new ActivityFailure(text, {cause: error})
    const result = {error: text, ...failedOutput(error)}
    const event: StepEvent = {event: 'LocalActivity', status: 'executed', classification: 'local'}
    this.write(() => this.#complete(key, step, {result, event, failed: true}))
    return result
  }

  /** While results are only collected, a missing one does not end what is beside it. */
  #limits(limit: number, {signal}: Frame): Parameters<typeof together>[1] {
    return {limit, signal, visitsAll: this.#run.is_unwinding === 1}
  }

  #isUnwinding({isCompensation}: Frame): boolean {
    return this.#run.is_unwinding === 1 && !isCompensation
  }

  #key(step: Step, {suffix}: Frame): ActivityKey {
    const {run_id: runId, workflow_name: workflow} = this.#run
    const activityId = step.id === undefined ? hashOf([workflow, step.name, step.path + suffix]) : `${step.id}${suffix}`
    return {runId, workflow, activityId}
  }

  #holds(step: Step, condition: Expression, {scope}: Frame): boolean {
    const value = evaluated(step.name, () => condition(scope))
    if (typeof value !== 'boolean')
      throw new ActivityFailure(`${step.name} failed: its condition is not true or false.`)
    return value
  }
}

/** Evaluates an expression of a step. @throws ActivityFailure */
function evaluated<T>(name: string, evaluate: () => T): T {
  try {
    return evaluate()
  } catch (error) {
    if (error instanceof ExpressionFailure)
      throw new ActivityFailure(`${name} failed: ${error.message}.`, {cause: error})
    throw error
  }
}

/** The id of an activity without one in the definition: the first 32 digits of the SHA-256 of its position. */
const hashOf = (parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32)

/** True for entries that repeat those of an earlier process. */
const isReplayed = ({event}: JournalEvent): boolean => event !== 'ActivityReplayed' && event !== 'ActivitySkipped'

/** True if an activity was not skipped and did not fail: there is something to undo, whatever its result looks like. */
const hasSucceeded = ({result_json: json}: Recorded): boolean => json !== null && !(JSON.parse(json) as Kept).failed

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
])

/** Runs work with a time limit. @throws workflow_activity_timeout */
async function withTimeout<T>(
  ms: number | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (ms === undefined) return work(signal)
  const limit = new AbortController()
  const onAbort = () => limit.abort(signal.reason)
  signal.addEventListener('abort', onAbort, {once: true})
  const timeout = new SvcError('workflow_activity_timeout', {activity: 'The activity', ms})
  const timer = startTimer(() => limit.abort(timeout), ms)
  try {
    return await work(limit.signal)
  } finally {
    timer.stop()
    signal.removeEventListener('abort', onAbort)
  }
}
