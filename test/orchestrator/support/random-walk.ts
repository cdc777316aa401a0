import {reorderTask, setPaused, spawnAgent} from '../../../src/orchestrator/index.js'
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
import {priorities} from '../../../src/workspace/index.js'
import type {TestOrchestrator} from './open-test-orchestrator.js'
import {acceptTask, startOne} from './tasks.js'
import {type Move, Walk} from './walk.js'

/** Actions of users, clients and a daemon. */
export class WorkspaceWalk extends Walk<TestOrchestrator> {
  protected override readonly recent = 60

  protected moves(o: TestOrchestrator): readonly Move[] {
    return [
      ['submit', 14, () => submitTask(o, this.#submission())],
      ['submit a batch', 2, () => submitBatch(o, this.#batch())],
      ['start', 9, () => startOne(o, this.#agent())],
      ['claim', 5, () => takeClaim(o, {owner: 'client'})],
      ['renew', 2, () => renewClaim(o, this.task('InProgress'), {generation: 1})],
      ['complete', 8, () => this.#end((id, claim) => acceptTask(o, id, {text: 'done'}, claim))],
      ['fail', 3, () => this.#end((id, claim) => failTask(o, id, 'broken', claim))],
      ['cancel', 2, () => cancelTask(o, this.task())],
      ['doubt', 3, () => doubtTask(o, this.task())],
      ['resolve', 2, () => resolveDoubt(o, this.task('Doubted'), this.resolution())],
      ['overrule', 1, () => overruleDoubt(o, this.task('Doubted'))],
      ['retry', 3, () => retryTask(o, this.task('Failed'), {dependants: this.random.chance(0.5)})],
      ['approve', 2, () => approveTask(o, this.task('BlockedOnApproval'))],
      ['reorder', 2, () => reorderTask(o, this.task(), this.random.pick(priorities))],
      ['pause', 1, () => setPaused(o, String(this.#agent()), true)],
      ['resume', 3, () => setPaused(o, String(this.#agent()), false)],
      ['drain', 1, () => drainAgent(o, String(this.#agent()))],
      ['retire', 1, () => retireAgent(o, String(this.#agent()))],
      ['spawn', 3, () => spawnAgent(o, {name: `agent-${this.random.below(12)}`})],
      ['rebalance', 2, () => rebalance(o, {urgentOnly: this.random.chance(0.3)})],
      ['free dead claims', 1, () => freeDeadClaims(o)],
      ['sweep locks', 1, () => sweepLocks(o)],
      ['tick', 2, () => scalingTick(o, {cpu: 0.5, memory: 0.5})],
      ['wait', 6, () => this.#wait()],
    ]
  }

  /** Ends a task with its claim, or by force. */
  #end(work: (id: number, finisher: {generation?: number; force?: boolean}) => unknown): void {
    const id = this.task('InProgress')
    work(id, id % 5 === 0 ? {force: true} : {generation: requireTask(this.orchestrator, id).generation})
  }

  #agent(): number {
    return this.random.pick(listAgents(this.orchestrator)).id
  }

  #submission() {
    const files = ['src/a.ts', 'src/b.ts', 'docs/c.md', 'docs/d.md']
    return {
      description: 'work',
      priority: this.random.pick(priorities),
      processor: this.random.pick(['ai', 'ai', 'external'] as const),
      requires_approval: this.random.chance(0.1),
      enqueue_hints: {complexity: 1 + this.random.below(10)},
      depends_on: this.random.chance(0.35) ? [this.task(), this.task()] : [],
      file_manifest: this.random.chance(0.3)
        ? [{path: this.random.pick(files), access: this.random.pick(['read', 'write'])}]
        : [],
      ...(this.random.chance(0.3) ? {target_agent: `agent-${this.random.below(4)}`} : {}),
    }
  }

  #batch() {
    return Array.from({length: 5}, (_, i) => ({
      ...this.#submission(),
      temp_deps: i > 0 && this.random.chance(0.7) ? [this.random.below(i)] : [],
    }))
  }

  #wait(): void {
    this.orchestrator.clock.ms += Math.floor(this.random.next() ** 4 * 60_000)
  }
}
