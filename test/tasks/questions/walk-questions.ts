import {isErrorOf} from '../../../src/errors/index.js'
import {
  answerQuestion,
  approveTask,
  askAsAgent,
  askQuestion,
  attentionBudget,
  attentionHistory,
  cancelTask,
  closeQuestions,
  doubtTask,
  emergencyStop,
  failTask,
  pendingQuestions,
  requireAttention,
  requireTask,
  resetAttention,
  resolveDoubt,
  retryTask,
  startOrchestrator,
  submitTask,
  takeClaim,
} from '../../../src/tasks/index.js'
import type {TaskStatus} from '../../../src/workspace/index.js'
import type {TestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {acceptTask, startOne} from '../../orchestrator/support/tasks.js'
import {countStep, type Move, Walk} from '../../orchestrator/support/walk.js'

/** Settings of a walk: attention for about ten interruptions a day. */
export const walkSettings = `[orchestrator]
attention_enabled = true
attention_budget_ms = 120000
agent_daily_budget_micros = 40000
max_agents = 3
`

/** What a walk did, and the first invariants that did not hold. */
export interface WalkReport {
  faults: string[]
  /** Number of steps by action and result. */
  counts: Record<string, number>
}

/**
 * Performs actions of persons, agents and a daemon in random order, and examines the workspace after every step. The
 * seed determines the actions. Ends with the first fault.
 */
export async function walkQuestions(
  orchestrator: TestOrchestrator,
  {seed, steps}: {seed: number; steps: number},
): Promise<WalkReport> {
  const walk = new QuestionWalk(orchestrator, seed)
  const {faults, counts} = walk.report
  for (let count = 1; count <= steps && faults.length === 0; count++) {
    const step = await walk.step()
    countStep(counts, step)
    for (const fault of walk.faults())
      faults.push(`seed ${seed}, step ${count} (${step.name}: ${step.result}): ${fault}`)
  }
  return walk.report
}

const finals: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['Completed', 'Failed', 'Cancelled'])

class QuestionWalk extends Walk<TestOrchestrator> {
  readonly report: WalkReport = {faults: [], counts: {}}
  /** Ids of submitted tasks. */
  readonly #submitted = new Set<number>()
  /** Accepted answers by question. */
  readonly #answers = new Map<string, string>()
  /** Number of questions asked by this walk; it makes prompts unique. */
  #asked = 0

  protected moves(o: TestOrchestrator): readonly Move[] {
    return [
      ['submit as an agent', 12, () => this.#submit('agent')],
      ['submit as a person', 5, () => this.#submit('person')],
      ['start', 8, () => startOne(o, 1)],
      ['claim', 8, () => takeClaim(o, {owner: 'client', ttlMs: 3_600_000})],
      ['ask as an agent', 12, () => askAsAgent(o, this.#question())],
      ['ask as a person', 3, () => askQuestion(o, this.#question())],
      ['answer', 12, () => this.#answer()],
      ['answer again', 3, () => this.#answerAgain()],
      [
        'close',
        2,
        () => closeQuestions(o, this.random.chance(0.5) ? {taskId: this.task()} : {sessionId: this.#session()}),
      ],
      ['approve as a person', 6, () => approveTask(o, this.task('BlockedOnApproval'), 'ann')],
      ['approve as an agent', 2, () => approveTask(o, this.task('BlockedOnApproval'))],
      ['complete', 6, () => this.#end((id, claim) => acceptTask(o, id, {text: 'done'}, claim))],
      ['fail', 2, () => this.#end((id, claim) => failTask(o, id, 'broken', claim))],
      ['cancel', 2, () => cancelTask(o, this.task(), {by: this.random.pick(['person', 'agent'])})],
      ['retry', 2, () => retryTask(o, this.task('Failed'))],
      ['doubt', 2, () => doubtTask(o, this.task())],
      ['resolve', 3, () => resolveDoubt(o, this.task('Doubted'), {validated: true, report: 'Examined.', resume: true})],
      ['stop', 2, () => this.#stop()],
      ['restart', 4, () => startOrchestrator(o)],
      ['reset', 1, () => resetAttention(o)],
      ['wait', 5, () => this.#wait()],
    ]
  }

  /** Invariants that do not hold now. */
  faults(): string[] {
    const {store} = this.orchestrator
    const tasks = store.all<{id: number; status: TaskStatus; reason: string | null; description: string}>(
      'SELECT id, status, status_reason AS reason, description FROM orch_tasks',
    )
    const there = new Set(tasks.map(({id}) => id))
    const pending = pendingQuestions(this.orchestrator)
    const waiting = new Map(pending.map((question) => [question.question_id, question]))
    const faults = [...this.#submitted].flatMap((id) => (there.has(id) ? [] : [`task ${id} is lost`]))
    for (const {id, status, reason, description} of tasks) {
      const question = /^question:(.*)$/.exec(reason ?? '')?.[1]
      if (status === 'BlockedOnApproval' && question !== undefined && waiting.get(question)?.task_id !== id)
        faults.push(`task ${id} waits for ${question}, which is not open`)
      if (finals.has(status) && pending.some(({task_id}) => task_id === id))
        faults.push(`task ${id} is ${status} and has an open question`)
      const blocks = [...description.matchAll(/\[ANSWER\]\n(.*)\n(.*)/g)]
      const prompts = new Set(blocks.map(([, prompt]) => prompt))
      if (prompts.size < blocks.length) faults.push(`an answer was applied twice to task ${id}`)
      for (const [, prompt = '', answer] of blocks)
        if (this.#answers.get(prompt) !== answer) faults.push(`task ${id} has an answer to ${prompt} that nobody gave`)
    }
    for (const {prompt} of pending) if (this.#answers.has(prompt)) faults.push(`${prompt} is answered and open`)
    return [...faults, ...this.#budgetFaults()]
  }

  #budgetFaults(): string[] {
    const {
      spent_ms: spent,
      period_start_ms: start,
      rejected,
      total_requests: total,
    } = attentionBudget(this.orchestrator)
    const charged = attentionHistory(this.orchestrator, 24 * 365)
      .filter(({timestamp_ms: at}) => at > start)
      .reduce((sum, {cost_ms}) => sum + cost_ms, 0)
    const faults = []
    if (charged > spent) faults.push(`${charged} ms were charged, but only ${spent} ms are spent`)
    if (rejected > total + this.#submitted.size) faults.push(`${rejected} of ${total} requests were rejected`)
    return faults
  }

  #session(): string {
    return this.random.pick(['s1', 's2', 's3'])
  }

  protected override task(status?: TaskStatus): number {
    const found = this.orchestrator.store.all<{id: number}>('SELECT id FROM orch_tasks WHERE ? IS NULL OR status = ?', [
      status ?? null,
      status ?? null,
    ])
    return found.length === 0 ? 999_999 : this.random.pick(found).id
  }

  /** Agents are refused while no attention is left, as in the operation. */
  #submit(submitter: 'person' | 'agent'): void {
    if (submitter === 'agent') requireAttention(this.orchestrator)
    const accepted = submitTask(
      this.orchestrator,
      {
        description: this.random.pick(['Explain the parser', 'Deploy the site', 'Delete the table', 'Write the notes']),
        processor: this.random.pick(['external', 'ai']),
        requires_approval: this.random.chance(0.1),
        file_manifest: this.random.chance(0.3) ? [{path: this.random.pick(['a.ts', 'b.ts']), access: 'write'}] : [],
        ...(this.random.chance(0.3) ? {depends_on: [...this.#submitted].slice(-1)} : {}),
      },
      {submitter},
    )
    this.#submitted.add(accepted.task_id)
  }

  #question() {
    const task = this.random.chance(0.7)
    return {
      prompt: `Question ${++this.#asked}?`,
      ...(task
        ? {task_id: this.task(this.random.pick(['Queued', 'InProgress', undefined]))}
        : {session_id: this.#session()}),
      ...(task && this.random.chance(0.7) ? {blocks: true} : {}),
      ...(this.random.chance(0.5)
        ? {expected_information_gain_bits: this.random.next() * 0.6, expected_user_cost: this.random.next()}
        : {}),
    }
  }

  #answer(): void {
    const question = this.random.pick(pendingQuestions(this.orchestrator))
    const answer = `answer ${this.#asked}.${this.#answers.size}`
    const {prompt} = answerQuestion(this.orchestrator, {question_id: question?.question_id ?? 'Q-9999', answer})
    this.#answers.set(prompt, answer)
  }

  /** A second answer must be refused, which `faults` would notice. */
  #answerAgain(): void {
    const answered = pendingQuestions(this.orchestrator, {answered: true}).filter(({answer}) => answer !== undefined)
    answerQuestion(this.orchestrator, {
      question_id: this.random.pick(answered)?.question_id ?? 'Q-9999',
      answer: 'other',
    })
  }

  #end(work: (id: number, finisher: {generation: number}) => unknown): void {
    const id = this.task('InProgress')
    work(id, {generation: requireTask(this.orchestrator, id).generation})
  }

  /** After an emergency stop, nothing runs and nothing starts. */
  #stop(): void {
    emergencyStop(this.orchestrator)
    const running = this.task('InProgress')
    if (running !== 999_999) this.report.faults.push(`task ${running} runs after an emergency stop`)
    for (const start of [
      () => startOne(this.orchestrator, 1),
      () => takeClaim(this.orchestrator, {owner: 'client'}).task.id,
    ])
      try {
        const started = start()
        if (started !== undefined) this.report.faults.push(`task ${started} started after an emergency stop`)
      } catch (error) {
        if (!isErrorOf(error, 'stopped')) throw error
      }
  }

  #wait(): void {
    this.orchestrator.clock.ms += Math.floor(this.random.next() ** 3 * 8 * 3_600_000)
  }
}
