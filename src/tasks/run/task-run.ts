import {excerpt} from '../../errors/index.js'
import type {KeptOutput} from '../../process/index.js'
import {recordWork} from '../../telemetry/index.js'
import type {TaskPhase, WorkspaceContext} from '../../workspace/index.js'
import {chargeAgent} from '../agents/budget.js'
import type {Task, TaskResult, TranscriptEntry} from '../base/task.js'
import {
  applyJudgement,
  type Completion,
  type Judged,
  type JudgeOptions,
  judgeCompletion,
} from '../completion/judgement.js'
import type {Usage} from '../events/cost.js'
import {appendEvent} from '../events/event-log.js'
import {recordBaseline} from '../evidence/record-baseline.js'
import {type Finisher, failTask, releaseTask, requeueRow} from '../lifecycle/finish.js'
import {writeOutput} from '../lifecycle/output.js'
import type {TaskChanges} from '../lifecycle/status.js'
import {requireRow, type TaskRow, toTask} from '../lifecycle/task-rows.js'

const transcriptLength = 10
/** Length of the beginning of a message in a metric, characters. */
const maxTurnLength = 16_384

/** The task as it was when its run started, and the claim under which the run may change it. */
export interface RunClaim extends Finisher {
  task: Task
}

/**
 * One run of a task, by this process, by a client or by another node: everything that a run changes, it changes here.
 * Each change checks first that the run still holds its claim, since the task may have been cancelled or moved.
 */
export class TaskRun {
  protected readonly context: WorkspaceContext
  readonly #finisher: Finisher
  /** The task as it was when the run started or was continued. */
  readonly task: Task

  constructor(context: WorkspaceContext, {task, ...finisher}: RunClaim) {
    this.context = context
    this.task = task
    this.#finisher = finisher
  }

  /** Generation of the claim. */
  get generation(): number {
    return this.#finisher.generation ?? this.task.generation
  }

  /** The row of the task if the run still holds its claim. */
  protected heldRow(): TaskRow | undefined {
    const row = requireRow(this.context, this.task.id)
    return row.status === 'InProgress' && row.claim_generation === this.generation ? row : undefined
  }

  /** The task as it is now; undefined if the run no longer holds its claim. */
  held(): Task | undefined {
    const row = this.heldRow()
    return row === undefined ? undefined : toTask(row)
  }

  /** Changes what a running task shows; a late report changes nothing. */
  #whileHeld(write: (task: Task) => void): void {
    this.context.store.transaction(() => {
      const task = this.held()
      if (task !== undefined) write(task)
    })
  }

  /** Records the state of the files that the task writes, unless an earlier run did. */
  baseline(): Promise<void> {
    return recordBaseline(this.context, this.task)
  }

  /**
   * Stores the output of a command from an offset.
   * @returns the offset to continue from, which is valid once the transaction is committed
   */
  output(output: KeptOutput, offset: number): number {
    const {store, now} = this.context
    let next = offset
    if (output.total > offset)
      this.#whileHeld(({id, agent_id}) => {
        next = writeOutput(this.context, id, this.generation, output, offset)
        store.run('UPDATE orch_agents SET last_active_ms = ? WHERE id = ?', [now(), agent_id])
      })
    return next
  }

  phase(phase: TaskPhase): void {
    const {store, now} = this.context
    this.#whileHeld(({id, agent_id}) => {
      store.run('UPDATE orch_tasks SET current_phase = ?, updated_at_ms = ? WHERE id = ?', [phase, now(), id])
      store.run("UPDATE orch_agents SET activity = 'thinking', last_active_ms = ? WHERE id = ?", [now(), agent_id])
      appendEvent(this.context, {type: 'task_phase_changed', task_id: id, agent_id, phase})
      recordWork(this.context, 'task_phase_change', {details: {task_id: id, phase, timestamp_ms: now()}})
    })
  }

  /** Adds a message to the transcript. */
  message(message: string): void {
    const {store, now} = this.context
    this.#whileHeld(({id, agent_id, agent_name, transcript}) => {
      const entry: TranscriptEntry = {agent_id, agent_name, message, timestamp_ms: now()}
      const kept = [...transcript, entry].slice(-transcriptLength)
      store.run('UPDATE orch_tasks SET transcript = ? WHERE id = ?', [JSON.stringify(kept), id])
      const details = {...entry, task_id: id, message: excerpt(message, maxTurnLength)}
      recordWork(this.context, 'task_turn', {details})
    })
  }

  /** Records the leader of a process group, which must not outlive the run, and its start time. */
  process(pid: number, start: string): void {
    const {store} = this.context
    this.#whileHeld(({id}) => {
      store.run('UPDATE orch_tasks SET run_process = ? WHERE id = ?', [JSON.stringify({pid, start}), id])
    })
  }

  /** The processes of the run have ended, even if another run holds the task now. */
  forgetProcess(): void {
    this.context.store.run('UPDATE orch_tasks SET run_process = NULL WHERE id = ?', [this.task.id])
  }

  /**
   * Collects the evidence for a completion and evaluates the gates; stores nothing but the end of a client's claim, which
   * is extended for the duration of the checks.
   * @throws task_not_found, invalid_transition, claim_required, claim_lost, hidden_checks_unread; the reason of the signal
   */
  judge(result: TaskResult | undefined, options?: JudgeOptions): Promise<Judged> {
    return judgeCompletion(this.context, this.task.id, result, this.#finisher, options)
  }

  /**
   * Stores a judgement, in a transaction of the caller: the task is completed, queued again or failed.
   * @param usage is charged to the agent before the completion, which ends the spending without a completed task
   * @throws task_not_found, invalid_transition, claim_required, claim_lost
   */
  settle(judged: Judged, usage?: Usage): Completion {
    this.#charge(usage)
    return applyJudgement(this.context, judged)
  }

  /**
   * Fails the task, or queues it again if it has retries left.
   * @param isFinal the failure is permanent: the task is not retried
   * @throws task_not_found, invalid_transition, claim_lost
   */
  fail(reason: string, {isFinal = false, usage}: {isFinal?: boolean; usage?: Usage | undefined} = {}): void {
    this.#charge(usage)
    failTask(this.context, this.task.id, reason, {...this.#finisher, isFinal})
  }

  #charge(usage: Usage | undefined): void {
    const {context, task} = this
    if (usage !== undefined) chargeAgent(context, requireRow(context, task.id).agent_id, usage, task.id)
  }

  /** Ends a run that the infrastructure has failed. @throws task_not_found, invalid_transition, claim_lost */
  release(reason: string): void {
    releaseTask(this.context, this.task.id, reason, this.#finisher)
  }

  /** Returns the task to the front of its queue. Does nothing if the run no longer holds its claim. */
  requeue(reason: string, changes: TaskChanges = {}): void {
    const row = this.heldRow()
    if (row !== undefined) requeueRow(this.context, row, reason, changes)
  }

  /** Shows the agent that started the run as idle. */
  idle(): void {
    const {store, now} = this.context
    store.run("UPDATE orch_agents SET activity = 'idle', last_active_ms = ? WHERE id = ?", [now(), this.task.agent_id])
  }
}
