import {isErrorOf, SvcError} from '../../../src/errors/index.js'
import {reorderTask, setPaused, spawnAgent} from '../../../src/orchestrator/index.js'
import {randomSource} from '../../../src/sampling/index.js'
import {rebalance} from '../../../src/scheduler/index.js'
import {scalingTick} from '../../../src/scheduler/scaling/tick.js'
import {
  approveTask,
  cancelTask,
  doubtTask,
  drainAgent,
  failTask,
  listAgents,
  overruleDoubt,
  renewClaim,
  requireTask,
  resolveDoubt,
  retireAgent,
  retryTask,
  submitBatch,
  submitTask,
  takeClaim,
} from '../../../src/tasks/index.js'
import {freeDeadClaims} from '../../../src/tasks/lifecycle/claim.js'
import {sweepLocks} from '../../../src/tasks/locks.js'
import {priorities, type TaskStatus} from '../../../src/workspace/index.js'
import type {TestOrchestrator} from './open-test-orchestrator.js'
import {acceptTask, startOne} from './tasks.js'

/** The action of a step, and the error code if it was rejected. */
export interface Step {
  name: string
  refused?: string
}

/** Performs actions of users, clients and a daemon in random order. The seed determines the steps. */
export function* randomWalk(orchestrator: TestOrchestrator, steps: number, seed: number): Generator<Step> {
  const walk = new Walk(orchestrator, seed)
  for (let i = 0; i < steps; i++) yield walk.step()
}

class Walk {
  readonly #orchestrator: TestOrchestrator
  readonly #random: () => number
  readonly #moves: readonly (readonly [name: string, weight: number, move: () => unknown])[]

  constructor(orchestrator: TestOrchestrator, seed: number) {
    this.#orchestrator = orchestrator
    this.#random = randomSource(seed)
    const o = orchestrator
    this.#moves = [
      ['submit', 14, () => submitTask(o, this.#submission())],
      ['submit a batch', 2, () => submitBatch(o, this.#batch())],
      ['start', 9, () => startOne(o, this.#agent())],
      ['claim', 5, () => takeClaim(o, {owner: 'client'})],
      ['renew', 2, () => renewClaim(o, this.#task('InProgress'), {generation: 1})],
      ['complete', 8, () => this.#end((id, claim) => acceptTask(o, id, {text: 'done'}, claim))],
      ['fail', 3, () => this.#end((id, claim) => failTask(o, id, 'broken', claim))],
      ['cancel', 2, () => cancelTask(o, this.#task())],
      ['doubt', 3, () => doubtTask(o, this.#task())],
      ['resolve', 2, () => resolveDoubt(o, this.#task('Doubted'), this.#resolution())],
      ['overrule', 1, () => overruleDoubt(o, this.#task('Doubted'))],
      ['retry', 3, () => retryTask(o, this.#task('Failed'), {dependants: this.#chance(0.5)})],
      ['approve', 2, () => approveTask(o, this.#task('BlockedOnApproval'))],
      ['reorder', 2, () => reorderTask(o, this.#task(), this.#pick(priorities))],
      ['pause', 1, () => setPaused(o, String(this.#agent()), true)],
      ['resume', 3, () => setPaused(o, String(this.#agent()), false)],
      ['drain', 1, () => drainAgent(o, String(this.#agent()))],
      ['retire', 1, () => retireAgent(o, String(this.#agent()))],
      ['spawn', 3, () => spawnAgent(o, {name: `agent-${Math.floor(this.#random() * 12)}`})],
      ['rebalance', 2, () => rebalance(o, {urgentOnly: this.#chance(0.3)})],
      ['free dead claims', 1, () => freeDeadClaims(o)],
      ['sweep locks', 1, () => sweepLocks(o)],
      ['tick', 2, () => scalingTick(o, {cpu: 0.5, memory: 0.5})],
      ['wait', 6, () => this.#wait()],
    ]
  }

  step(): Step {
    const [name, , move] = this.#pick(this.#moves.flatMap((one) => Array.from({length: one[1]}, () => one)))
    try {
      move()
      return {name}
    } catch (error) {
      if (!(error instanceof SvcError) || isErrorOf(error, 'internal')) throw error
      return {name, refused: error.code}
    }
  }

  #chance(share: number): boolean {
    return this.#random() < share
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T
  }

  /** A random task, optionally with a status; an unused id if there is none. */
  #task(status?: TaskStatus): number {
    const found = this.#orchestrator.store.all<{id: number}>(
      'SELECT id FROM orch_tasks WHERE status = ? OR (? AND id > (SELECT max(id) - 60 FROM orch_tasks))',
      [status ?? '', status === undefined ? 1 : 0],
    )
    return found.length === 0 ? 999_999 : this.#pick(found).id
  }

  /** Ends a task with its claim, or by force. */
  #end(work: (id: number, finisher: {generation?: number; force?: boolean}) => unknown): void {
    const id = this.#task('InProgress')
    work(id, id % 5 === 0 ? {force: true} : {generation: requireTask(this.#orchestrator, id).generation})
  }

  #agent(): number {
    return this.#pick(listAgents(this.#orchestrator)).id
  }

  #submission() {
    const files = ['src/a.ts', 'src/b.ts', 'docs/c.md', 'docs/d.md']
    return {
      description: 'work',
      priority: this.#pick(priorities),
      processor: this.#pick(['ai', 'ai', 'external'] as const),
      requires_approval: this.#chance(0.1),
      enqueue_hints: {complexity: 1 + Math.floor(this.#random() * 10)},
      depends_on: this.#chance(0.35) ? [this.#task(), this.#task()] : [],
      file_manifest: this.#chance(0.3) ? [{path: this.#pick(files), access: this.#pick(['read', 'write'])}] : [],
      ...(this.#chance(0.3) ? {target_agent: `agent-${Math.floor(this.#random() * 4)}`} : {}),
    }
  }

  #batch() {
    return Array.from({length: 5}, (_, i) => ({
      ...this.#submission(),
      temp_deps: i > 0 && this.#chance(0.7) ? [Math.floor(this.#random() * i)] : [],
    }))
  }

  #resolution() {
    return {validated: this.#chance(0.5), report: 'looked at', resume: this.#chance(0.5)}
  }

  #wait(): void {
    this.#orchestrator.clock.ms += Math.floor(this.#random() ** 4 * 60_000)
  }
}
