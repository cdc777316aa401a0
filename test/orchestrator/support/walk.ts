import {isErrorOf, SvcError} from '../../../src/errors/index.js'
import type {Orchestrator} from '../../../src/orchestrator/index.js'
import type {TaskStatus} from '../../../src/workspace/index.js'
import {type Random, seeded} from '../../support/random.js'

/** An action that a walk may choose, with a probability in proportion to its weight. */
export type Move = readonly [name: string, weight: number, move: () => unknown]

/** An action that was chosen, with the text that it returned, the code of its error, or `done`. */
export interface Step {
  name: string
  result: string
  isRefused: boolean
}

/** Performs actions on a workspace in random order. The seed determines them. */
export abstract class Walk<O extends Orchestrator = Orchestrator> {
  protected readonly orchestrator: O
  protected readonly random: Random
  /** Number of the latest tasks among which `task` chooses. */
  protected readonly recent: number = 30
  #choices: readonly Move[] | undefined

  constructor(orchestrator: O, seed: number) {
    this.orchestrator = orchestrator
    this.random = seeded(seed)
  }

  protected abstract moves(orchestrator: O): readonly Move[]

  async step(): Promise<Step> {
    this.#choices ??= this.moves(this.orchestrator).flatMap((move) => Array.from({length: move[1]}, () => move))
    const [name, , move] = this.random.pick(this.#choices)
    try {
      const result = await move()
      return {name, result: typeof result === 'string' ? result : 'done', isRefused: false}
    } catch (error) {
      if (!(error instanceof SvcError) || isErrorOf(error, 'internal')) throw error
      return {name, result: error.code, isRefused: true}
    }
  }

  /** A random task, optionally with a status; an unused id if there is none. */
  protected task(status?: TaskStatus): number {
    const found = this.orchestrator.store.all<{id: number}>(
      'SELECT id FROM orch_tasks WHERE status = ? OR (? AND id > (SELECT max(id) - ? FROM orch_tasks))',
      [status ?? '', status === undefined ? 1 : 0, this.recent],
    )
    return found.length === 0 ? 999_999 : this.random.pick(found).id
  }

  protected resolution() {
    return {validated: this.random.chance(0.5), report: 'Examined.', resume: this.random.chance(0.5)}
  }
}

/** Counts a step of a walk by action and result. */
export function countStep(counts: Record<string, number>, {name, result}: Pick<Step, 'name' | 'result'>): void {
  const key = `${name}: ${result}`
  counts[key] = (counts[key] ?? 0) + 1
}
