import {cancelTask, submitBatch, takeClaim} from '../../../src/tasks/index.js'
import {acceptTask} from '../../orchestrator/support/tasks.js'
import {median, round} from '../measure.js'
import {withOrchestrator} from './workspace.js'

const depths = [100, 1000, 10_000, 100_000]
const samples = 400

/** Time to claim and complete a task with 100 to 100,000 queued tasks, µs, and the effect of the queue depth. */
export async function orchestratorDequeue() {
  const costs: {queued: number; claim_us: number; complete_us: number}[] = []
  for (const queued of depths) costs.push({queued, ...(await costAt(queued))})
  const first = costs[0]?.claim_us ?? 0
  const last = costs.at(-1)?.claim_us ?? 0
  return {costs, deepest_to_shallowest: round(last / first, 2)}
}

const costAt = (queued: number) =>
  withOrchestrator({}, async (orchestrator) => {
    const task = (i: number) => ({
      description: `task ${i}`,
      processor: 'external' as const,
      priority: (['background', 'normal', 'urgent'] as const)[i % 3] as string,
    })
    submitBatch(
      orchestrator,
      Array.from({length: queued}, (_, i) => task(i)),
    )
    const claims: number[] = []
    const completions: number[] = []
    for (let i = -20; i < samples; i++) {
      const started = performance.now()
      const {task: claimed, generation} = takeClaim(orchestrator, {owner: 'bench'})
      const claimedAt = performance.now()
      acceptTask(orchestrator, claimed.id, {text: 'done'}, {generation})
      const completedAt = performance.now()
      // Keeps the queue depth constant.
      submitBatch(orchestrator, [task(i + 20)])
      if (i < 0) continue
      claims.push((claimedAt - started) * 1000)
      completions.push((completedAt - claimedAt) * 1000)
    }
    cancelTask(orchestrator, takeClaim(orchestrator, {owner: 'bench'}).task.id)
    return {claim_us: round(median(claims)), complete_us: round(median(completions))}
  })
