import type {SubmitTaskV1} from '../../../src/contracts/index.js'
import {priorities} from '../../../src/workspace/index.js'
import {seeded} from '../../support/random.js'
import {agentNames} from './workspace.js'

/** One call: a single task or a batch. */
export interface Call {
  tasks: readonly PlannedTask[]
  isBatch: boolean
  /** Pause before the call, ms. */
  pauseMs: number
}

export interface PlannedTask {
  submission: SubmitTaskV1 & {idempotency_key: string}
  /** Keys of its dependencies, which are tasks of earlier calls. */
  after: readonly string[]
}

/** A task may depend on this many previous tasks. */
const reach = 30

/**
 * The calls of a submitter. They depend only on the seed, so that the successor of a killed submitter repeats them with
 * the same keys.
 */
export function planCalls(name: string, count: number, seed: number): Call[] {
  const {next: random, below} = seeded(seed)
  const keys: string[] = []
  const calls: Call[] = []

  const plan = (place: number): PlannedTask => {
    const earlier = keys.slice(0, keys.length - place).slice(-reach)
    const key = `${name}-${keys.length}`
    keys.push(key)
    const waits = random() < 0.3 && earlier.length > 0
    const after = waits ? Array.from({length: 1 + below(3)}, () => earlier[below(earlier.length)] as string) : []
    // One in twenty is still running when the next daemon starts.
    const ms = random() < 0.05 ? 500 + below(1000) : 5 + below(36)
    return {
      after: [...new Set(after)],
      submission: {
        idempotency_key: key,
        description: `the work of ${key}`,
        priority: priorities[below(priorities.length)] as string,
        exec: {template: 'work', params: {seconds: (ms / 1000).toFixed(3)}},
        enqueue_hints: {complexity: 1 + below(10)},
        ...(random() < 0.8 ? {target_agent: agentNames[below(agentNames.length)] as string} : {}),
        ...(place > 0 && random() < 0.4 ? {temp_deps: [below(place)]} : {}),
      },
    }
  }

  while (keys.length < count) {
    const isBatch = random() < 0.3
    const length = isBatch ? 2 + below(10) : 1
    const tasks = Array.from({length}, (_, place) => plan(place))
    calls.push({tasks, isBatch, pauseMs: below(150)})
  }
  return calls
}
