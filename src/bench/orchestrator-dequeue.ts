import type {Orchestrator} from '../orchestrator/index.js'
import {cancelTask, submitBatch, takeClaim} from '../tasks/index.js'
import type {Benchmark, Result} from './benchmark.js'
import {median, round, rounds} from './measure.js'
import {withOrchestrator} from './temporary.js'

const defaultDepths: readonly number[] = [100, 1000, 10_000, 100_000]
const priorities = ['background', 'normal', 'urgent'] as const
/** Tasks per batch, so that an interruption does not have to wait for all of them. */
const batchSize = 1000

export const orchestratorDequeue: Benchmark = {
  name: 'orchestrator-dequeue',
  measures: 'Time to claim a task while 100,000 tasks are queued.',
  base: 'claiming a task while 100 tasks are queued',
  run: (signal) => measureClaims(signal),
}

/** @param depths queue depths, the base first */
export async function measureClaims(
  signal: AbortSignal,
  {depths = defaultDepths, samples = 400}: {depths?: readonly number[]; samples?: number} = {},
): Promise<Result> {
  const costs: number[] = []
  for (const queued of depths) costs.push(await costAt(queued, samples, signal))
  return {
    ratio: round((costs.at(-1) as number) / (costs[0] as number), 2),
    figures: Object.fromEntries(depths.map((queued, i) => [`claim_${queued}_queued_us`, round(costs[i] as number)])),
  }
}

/** Median time to claim a task, µs. */
const costAt = (queued: number, samples: number, signal: AbortSignal) =>
  withOrchestrator({}, async (orchestrator) => {
    for await (const i of rounds(Math.ceil(queued / batchSize), {warmUps: 0, signal}))
      submit(orchestrator, i * batchSize, Math.min(batchSize, queued - i * batchSize))
    const claims: number[] = []
    for await (const i of rounds(samples, {warmUps: 20, signal})) {
      const started = performance.now()
      const {task} = takeClaim(orchestrator, {owner: 'bench'})
      const claimed = performance.now()
      cancelTask(orchestrator, task.id)
      // Keeps the queue depth constant.
      submit(orchestrator, i + 20, 1)
      if (i >= 0) claims.push((claimed - started) * 1000)
    }
    return median(claims)
  })

/** Submits tasks of all priorities for external workers. */
const submit = (orchestrator: Orchestrator, first: number, length: number) =>
  submitBatch(
    orchestrator,
    Array.from({length}, (_, i) => ({
      description: `task ${first + i}`,
      processor: 'external',
      priority: priorities[(first + i) % 3] as string,
    })),
  )
