import {createHash} from 'node:crypto'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {ActivityPorts, Executor} from '../activities/executor.js'
import {executors} from '../activities/executors.js'
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
import type {Expression, Scope} from '../definition/expression.js'
import type {ActivityKey} from '../store/activities.js'
import type {StepEvent} from '../store/journal.js'
import type {RunRow} from '../store/runs.js'
import {ActivityRun} from './activity-run.js'
import {ActivityFailure, NotReached} from './control-errors.js'
import {evaluated} from './evaluated.js'
import {runConcurrently} from './run-concurrently.js'
import {hasSucceeded, RunLog, type RunLogOptions} from './run-log.js'
import type {Waits} from './waits.js'

/** What an execution needs in addition to the run. */
export interface ExecutionOptions extends RunLogOptions {
  readonly ports: ActivityPorts
  readonly waits: Waits
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

const maxItems = 10_000
/**
 * Interprets a workflow. An activity with a recorded result is not repeated: its result is used. The interpretation is
 * therefore the same in every process, as far as results are recorded.
 */
export class Execution {
  /** Results and writes of the run. */
  readonly log: RunLog
  readonly #context: WorkspaceContext
  readonly #run: RunRow
  readonly #workflow: Workflow
  readonly #options: ExecutionOptions
  readonly #undos: Undo[] = []
  /** Activities that have handed something to others, which is taken back if the run ends without success. */
  readonly #handedOn: {activity: ActivityRun; attempt: number}[] = []

  constructor(context: WorkspaceContext, run: RunRow, workflow: Workflow, options: ExecutionOptions) {
    this.#context = context
    this.#run = run
    this.#workflow = workflow
    this.#options = options
    this.log = new RunLog(context, run, options)
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
    for (const {activity, attempt} of this.#handedOn)
      if (await activity.withdraw(attempt, reason, signal)) isWithdrawn = true
    return isWithdrawn
  }

  get hasHandedOn(): boolean {
    return this.#handedOn.length > 0
  }

  /** Notes while the run unwinds what a completed or interrupted activity may have handed on. */
  #noteHandedOn(step: ActivityStep, key: ActivityKey, frame: Frame): void {
    const {type, withdraw} = executors[step.activity.kind] as Executor<ActivityKind> & {type: 'work'}
    const {log} = this
    const recorded = log.resultOf(key)
    const hasBegun = recorded === undefined ? log.attemptOf(key) !== undefined : recorded.result_json !== null
    if (!this.#isUnwinding(frame) || type !== 'work' || withdraw === undefined || !hasBegun) return
    this.#handedOn.push({activity: this.#activityRun(step, key, frame), attempt: log.attemptOf(key)?.attempt ?? 1})
  }

  get hasCompensations(): boolean {
    return this.#undos.length > 0
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
    const recorded = this.log.resultOf(key)
    let branch: unknown
    if (recorded === undefined) {
      if (this.#isUnwinding(frame)) throw new NotReached(key.activityId)
      branch = this.#holds(step, step.condition, frame) ? 'then' : 'else'
      const event: StepEvent = {
        event: 'BranchDecision',
        branch: branch as 'then' | 'else',
        decision_source: 'deterministic_condition',
      }
      this.log.write(() => this.log.complete(key, step, {result: branch, event}), {defers: true})
    } else branch = this.log.replay(key, step, recorded)
    return this.#block(branch === 'then' ? step.consequent : step.otherwise, frame)
  }

  async #parallel({branches}: ParallelStep, frame: Frame): Promise<StepResult> {
    const names = Object.keys(branches)
    const jobs = names.map((name) => (signal: AbortSignal) => this.#block(branches[name] ?? [], {...frame, signal}))
    const results = await runConcurrently(jobs, this.#limits(jobs.length, frame))
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
    return {result: await runConcurrently(jobs, this.#limits(step.concurrency, frame)), steps: {}}
  }

  async #activity(step: ActivityStep, frame: Frame): Promise<unknown> {
    const key = this.#key(step, frame)
    const recorded = this.log.resultOf(key)
    this.#noteHandedOn(step, key, frame)
    const result = recorded === undefined ? await this.#fresh(step, key, frame) : this.log.replay(key, step, recorded)
    const {compensation} = step
    const done = this.log.resultOf(key)
    if (compensation !== undefined && done !== undefined && hasSucceeded(done)) {
      const steps = step.id === undefined ? frame.scope.steps : {...frame.scope.steps, [step.id]: result}
      this.#undos.push({seq: done.seq, step: compensation, frame: {...frame, scope: {...frame.scope, steps}}})
    }
    return result
  }

  /** An activity that was interrupted may have had some of its effects, so it is undone like a completed one. */
  #undoInterrupted({compensation: step, activity: {kind}}: ActivityStep, key: ActivityKey, frame: Frame): void {
    if (step === undefined || !this.log.attemptOf(key)?.isOpen) return
    const executor = executors[kind] as Executor<ActivityKind>
    const hasBegun =
      executor.type === 'work' || (executor.type === 'wait' && executor.hasBegun?.({context: this.#context, key}))
    if (!hasBegun) return
    this.#undos.push({seq: Number.MAX_SAFE_INTEGER, step, frame})
  }

  async #fresh(step: ActivityStep, key: ActivityKey, frame: Frame): Promise<unknown> {
    if (this.#isUnwinding(frame)) {
      this.#undoInterrupted(step, key, frame)
      throw new NotReached(key.activityId)
    }
    if (step.when !== undefined && !this.#holds(step, step.when, frame)) return this.#skip(step, key)
    return this.#activityRun(step, key, frame).result(frame.signal)
  }

  #activityRun(step: ActivityStep, key: ActivityKey, {scope}: Frame): ActivityRun {
    const call = {
      context: this.#context,
      ports: this.#options.ports,
      key,
      name: step.name,
      args: evaluated(step.name, () => step.activity.args(scope)),
      hosts: this.#workflow.hosts,
    }
    return new ActivityRun(step, call, {log: this.log, waits: this.#options.waits})
  }

  #skip(step: ActivityStep, key: ActivityKey): null {
    const {log} = this
    log.write(
      () => {
        log.record(key, {name: step.name, json: null})
        const names = {activity: step.name, activity_id: key.activityId}
        log.journal.append({event: 'ActivitySkipped', ...names, reason: 'its condition is false'})
      },
      {defers: true},
    )
    return null
  }

  /** While results are only collected, a missing one does not end what runs next to it. */
  #limits(limit: number, {signal}: Frame): Parameters<typeof runConcurrently>[1] {
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

/** The id of an activity without one in the definition: the first 32 digits of the SHA-256 of its position. */
const hashOf = (parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32)
