import {rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {isErrorOf} from '../../../src/errors/index.js'
import {type Orchestrator, spawnAgent} from '../../../src/orchestrator/index.js'
import type {TaskResult} from '../../../src/tasks/base/task.js'
import {
  approveTask,
  cancelTask,
  claimTask,
  completeTask,
  doubtTask,
  failTask,
  handoffTask,
  overruleDoubt,
  requireTask,
  resolveDoubt,
  retryTask,
  submitTask,
  taskEnvelope,
} from '../../../src/tasks/index.js'
import {countStep, type Move, Walk} from '../../orchestrator/support/walk.js'
import {gateFaults} from './gate-invariants.js'

/** Settings of the table `orchestrator` for a walk: all gates are enforced, and tasks are returned twice at most. */
export const walkSettings = `max_agents = 4
attention_enabled = true
behavioral_gate_on_complete = true
behavioral_gate_command = ["test"]
toestub_gate = true
harness_completion_guard = "enforce"
completion_markdown_link_audit_enabled = true
completion_grounding_enforce = true
socrates_gate_enforce = true
max_debug_iterations = 2
max_toestub_debug_iterations = 2
max_socrates_debug_iterations = 1
`

const agentNames = ['ada', 'bob', 'cy'] as const

export interface WalkOptions {
  seed: number
  steps: number
  /** Distinguishes the files of concurrent walks. */
  name: string
}

export interface WalkReport {
  faults: string[]
  /** Ids of submitted tasks. */
  submitted: number[]
  /** Number of steps by action and result. */
  counts: Record<string, number>
}

/**
 * Performs actions of clients and persons in random order on a workspace with gates, and examines it after every step.
 * The seed determines the actions, but not how they interleave with those of concurrent walks. Ends with the first
 * fault.
 */
export const walkGates = (orchestrator: Orchestrator, options: WalkOptions): Promise<WalkReport> =>
  new GateWalk(orchestrator, options).run()

class GateWalk extends Walk {
  readonly #options: WalkOptions
  /** Claims of this walk, some of which are over. */
  readonly #claims = new Map<number, number>()
  readonly #generations = new Map<number, number>()
  readonly #report: WalkReport = {faults: [], submitted: [], counts: {}}
  #files = 0

  constructor(orchestrator: Orchestrator, options: WalkOptions) {
    super(orchestrator, options.seed)
    this.#options = options
  }

  protected moves(o: Orchestrator): readonly Move[] {
    return [
      ['submit', 12, () => this.#submit()],
      ['claim', 14, () => this.#claim()],
      ['complete honestly', 14, () => this.#complete(true)],
      ['complete falsely', 10, () => this.#complete(false)],
      ['break the check', 1, () => writeFile(join(o.root, 'broken'), '')],
      ['repair the check', 6, () => rm(join(o.root, 'broken'), {force: true})],
      ['fail', 2, () => this.#end((id, finisher) => failTask(o, id, 'broken', finisher))],
      ['cancel', 1, () => cancelTask(o, this.task())],
      ['doubt', 3, () => doubtTask(o, this.task())],
      ['resolve', 3, () => resolveDoubt(o, this.task('Doubted'), this.resolution())],
      ['overrule', 1, () => overruleDoubt(o, this.task('Doubted'))],
      ['hand over', 3, () => this.#handOver()],
      ['retry', 4, () => retryTask(o, this.task('Failed'))],
      ['approve', 3, () => approveTask(o, this.task(this.random.pick(['InProgress', 'BlockedOnApproval'])), 'ann')],
      ['require a review', 2, () => this.#requireReview()],
    ]
  }

  async run(): Promise<WalkReport> {
    for (const name of agentNames) this.#spawn(name)
    for (let step = 1; step <= this.#options.steps && this.#report.faults.length === 0; step++) {
      const action = await this.step()
      countStep(this.#report.counts, action)
      const found = [...gateFaults(this.orchestrator), ...this.#lostOrOlder()]
      this.#report.faults.push(
        ...found.map((fault) => `seed ${this.#options.seed}, step ${step} (${action.name}): ${fault}`),
      )
    }
    return this.#report
  }

  /** Submitted tasks that do not exist, and tasks whose generation decreased. */
  #lostOrOlder(): string[] {
    const {store} = this.orchestrator
    const rows = store.all<{id: number; generation: number}>(
      'SELECT id, claim_generation AS generation FROM orch_tasks',
    )
    const there = new Set(rows.map(({id}) => id))
    const faults = this.#report.submitted.flatMap((id) => (there.has(id) ? [] : [`task ${id} is lost`]))
    for (const {id, generation} of rows) {
      const before = this.#generations.get(id) ?? 0
      if (generation < before) faults.push(`the generation of task ${id} fell from ${before} to ${generation}`)
      this.#generations.set(id, generation)
    }
    return faults
  }

  #spawn(name: string): void {
    try {
      spawnAgent(this.orchestrator, {name})
    } catch (error) {
      // A concurrent walk has spawned it.
      if (!isErrorOf(error, 'agent_exists')) throw error
    }
  }

  #submit(): void {
    const {name} = this.#options
    const extension = this.random.pick(['js', 'md'])
    const paths = this.random.chance(0.6) ? [`${name}-${++this.#files}.${extension}`] : []
    const {task_id: id} = submitTask(this.orchestrator, {
      description: 'Do the work',
      file_manifest: paths.map((path) => ({path, access: 'write'})),
      requires_approval: this.random.chance(0.1),
      target_agent: this.random.pick(agentNames),
      ...(this.random.chance(0.3) ? {accept: [`It is written [[file:${paths[0] ?? 'notes.md'}]]`]} : {}),
      ...(this.random.chance(0.15) ? {enqueue_hints: {task_category: 'research'}} : {}),
      ...(this.random.chance(0.2) ? {context_envelope_json: envelope} : {}),
    })
    this.#report.submitted.push(id)
  }

  async #claim(): Promise<void> {
    const {task, generation} = await claimTask(this.orchestrator, {owner: this.#options.name, ttlMs: 3_600_000})
    this.#claims.set(task.id, generation)
  }

  /** Ends a task with a claim of this walk, which may be over, or by force. */
  #end<T>(work: (id: number, finisher: {generation: number; force?: boolean}) => T): T {
    const held = [...this.#claims].slice(-4)
    const [id, generation] =
      held.length === 0 || this.random.chance(0.1) ? [this.task('InProgress'), 1] : this.random.pick(held)
    this.#claims.delete(id)
    return work(id, {generation, ...(this.random.chance(0.1) ? {force: true} : {})})
  }

  /** Does the work of a task, or leaves something out, and completes it. */
  #complete(isHonest: boolean): Promise<string> {
    return this.#end(async (id, finisher) => {
      const paths = requireTask(this.orchestrator, id).file_manifest.map(({path}) => path)
      const unfinished = !isHonest && this.random.chance(0.7)
      for (const path of [...paths, 'notes.md'])
        await writeFile(join(this.orchestrator.root, path), contentOf(path, unfinished))
      const completion = await completeTask(
        this.orchestrator,
        id,
        this.#resultOf(id, paths, isHonest || unfinished),
        finisher,
      )
      return completion.outcome === 'requeued' ? `requeued by ${completion.gate}` : completion.outcome
    })
  }

  #resultOf(id: number, paths: readonly string[], isHonest: boolean): TaskResult | undefined {
    if (!isHonest)
      return this.random.chance(0.5)
        ? {text: 'The median latency was 5 ms [[svccite:notes/run-9.md]].'}
        : ({text: 'Done.', checks_passed: ['all of them']} as TaskResult)
    const isCiting = taskEnvelope(this.orchestrator, id) !== undefined
    const answer = isCiting ? 'The median latency was 12 ms [[svccite:notes/run-7.md]].' : 'The work is finished.'
    return {
      text: `\`\`\`json\n${JSON.stringify({answer})}\n\`\`\``,
      artifact_paths: paths,
      declared_non_placeholder: true,
      checks_passed: ['human_review_approved'],
      ...(isCiting ? {evidence_citations: ['notes/run-7.md']} : {}),
    } as TaskResult
  }

  #handOver(): unknown {
    const task = requireTask(this.orchestrator, this.task(this.random.chance(0.5) ? 'InProgress' : 'Queued'))
    return handoffTask(this.orchestrator, {
      task_id: task.id,
      from_agent_id: task.agent_id,
      to_agent_id: this.random.pick(agentNames),
      generation: task.generation,
      plan_summary: 'Finish the work',
      verification_criteria: ['It is written'],
    })
  }

  #requireReview(): void {
    this.orchestrator.store.run("UPDATE orch_tasks SET approval_tier = ? WHERE id = ? AND status = 'InProgress'", [
      this.random.pick(['review', 'confirm']),
      this.task('InProgress'),
    ])
  }
}

function contentOf(path: string, isUnfinished: boolean): string {
  if (path.endsWith('.md')) return isUnfinished ? '# Notes\n\nSee [the rest](missing.md).\n' : '# Notes\n\nComplete.\n'
  return isUnfinished ? '// TODO: write it\nexport const a = () => 1\n' : 'export const a = () => 1\n'
}

const envelope = JSON.stringify({
  schema_version: 1,
  envelope_id: 'e-1',
  created_at_unix_ms: 0,
  envelope_type: 'retrieval_evidence',
  content: {
    summary_text: 'The median latency was 12 ms in run-7.',
    facts: [{fact_id: 'f-1', text: 'Run 7 used four threads.', evidence_refs: ['notes/run-7.md']}],
    citations: ['notes/run-7.md'],
  },
  safety: {factual_mode: true, required_citations: 1},
})
