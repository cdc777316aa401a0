import {round} from '../../../src/bench/measure.js'
import {withOrchestrator} from '../../../src/bench/temporary.js'
import {reportStatus} from '../../../src/orchestrator/index.js'
import {type Processor, runDaemon} from '../../../src/scheduler/index.js'
import {submitBatch} from '../../../src/tasks/index.js'

const taskCount = 100_000
/** Number of parallel chains of dependent tasks. */
const chains = 100

/** Submits 100,000 tasks in chains in one batch and runs them with 8 agents. A wrong order is an error. */
export const orchestratorDrain = () =>
  withOrchestrator({SVC_ORCHESTRATOR_MIN_AGENTS: '8'}, async (orchestrator) => {
    const submitting = performance.now()
    const accepted = submitBatch(
      orchestrator,
      Array.from({length: taskCount}, (_, i) => ({
        description: `link ${i}`,
        temp_deps: i < chains ? [] : [i - chains],
      })),
    )
    const submitMs = performance.now() - submitting
    const place = new Map(accepted.map(({task_id: id}, i) => [id, i]))
    const reached = new Array<number>(chains).fill(-1)
    let run = 0
    let outOfOrder = 0
    const stop = new AbortController()
    const processor: Processor = {
      async run({id}) {
        const i = place.get(id) as number
        if ((reached[i % chains] as number) >= i) outOfOrder++
        reached[i % chains] = i
        run++
        if (run === taskCount) setTimeout(() => stop.abort(), 200)
        return {text: '', details: {}}
      },
    }
    const started = performance.now()
    await runDaemon(orchestrator, {processors: {ai: processor, exec: processor}, signal: stop.signal})
    const ms = performance.now() - started
    const {total_completed: completed} = reportStatus(orchestrator)
    if (completed !== taskCount || run !== taskCount || outOfOrder > 0)
      throw new Error(`${completed} completed, ${run} run, ${outOfOrder} out of order`)
    return {
      tasks: taskCount,
      submit_per_s: Math.round((taskCount / submitMs) * 1000),
      drained_per_s: Math.round((taskCount / ms) * 1000),
      seconds: round(ms / 1000),
      out_of_order: outOfOrder,
    }
  })
