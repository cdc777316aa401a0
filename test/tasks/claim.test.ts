import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  cancelTask,
  failTask,
  readEvents,
  renewClaim,
  requireTask,
  submitBatch,
  takeClaim,
} from '../../src/tasks/index.js'
import {freeDeadClaims, maxClaimMs} from '../../src/tasks/lifecycle/claim.js'
import {runProgram} from '../orchestrator/support/child-process.js'
import {
  contents,
  openTestOrchestrator,
  refused,
  type TestOptions,
} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask, start, startOne, statusOf, submit} from '../orchestrator/support/tasks.js'

const external = {processor: 'external'} as const

/** A workspace with one external task that a client has claimed for 20 seconds. */
async function claimed(t: {after(work: () => void): void}, options: TestOptions = {}) {
  const orchestrator = await openTestOrchestrator(t, options)
  const id = submit(orchestrator, external)
  const {generation} = takeClaim(orchestrator, {owner: 'first', ttlMs: 20_000})
  const wait = (ms: number) => {
    orchestrator.clock.ms += ms
  }
  return {orchestrator, id, generation, wait}
}

/** The calls of a client under its claim. */
const words = {
  complete: (o, id, generation) => acceptTask(o, id, {text: 'late'}, {generation}),
  fail: (o, id, generation) => failTask(o, id, 'late', {generation}),
  heartbeat: (o, id, generation) => renewClaim(o, id, {generation}),
} satisfies Record<string, (o: Parameters<typeof acceptTask>[0], id: number, generation: number) => unknown>

/** The same calls without a claim. */
const ends = {
  complete: (o, id, finisher) => acceptTask(o, id, {text: 'mine'}, finisher),
  fail: (o, id, finisher) => failTask(o, id, 'mine', finisher),
} satisfies Record<
  string,
  (o: Parameters<typeof acceptTask>[0], id: number, finisher: Parameters<typeof acceptTask>[3]) => unknown
>

describe('a claimed task', () => {
  for (const [word, end] of Object.entries(ends)) {
    it(`rejects a ${word} without its claim and stays unchanged`, async (t) => {
      const {orchestrator, id, generation} = await claimed(t)
      const before = contents(orchestrator)
      const {exit, message} = refused('claim_required', () => end(orchestrator, id, {}))
      assert.deepEqual([exit, message], [4, 'T-0001 is claimed by first, and the request contains no claim.'])
      refused('claim_lost', () => end(orchestrator, id, {generation: generation + 1}))
      assert.deepEqual(contents(orchestrator), before)
    })

    it(`rejects a ${word} without the claim of its daemon`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const id = start(orchestrator, submit(orchestrator))
      refused('claim_required', () => end(orchestrator, id, {}))
      assert.equal(statusOf(orchestrator, id), 'InProgress')
    })

    it(`accepts a ${word} with force, emits an event, and rejects its former holder`, async (t) => {
      const {orchestrator, id, generation} = await claimed(t)
      const {agent_id} = requireTask(orchestrator, id)
      end(orchestrator, id, {force: true})
      assert.equal(statusOf(orchestrator, id), word === 'complete' ? 'Completed' : 'Failed')
      const [event] = readEvents(orchestrator, {types: ['task_claim_overridden']})
      assert.deepEqual(event?.kind, {type: 'task_claim_overridden', task_id: id, agent_id, owner: 'first', generation})
      for (const say of Object.values(words)) refused('claim_lost', () => say(orchestrator, id, generation))
    })

    it(`accepts a ${word} of its holder without such an event, even with force`, async (t) => {
      const {orchestrator, id, generation} = await claimed(t)
      end(orchestrator, id, {generation, force: true})
      assert.deepEqual(readEvents(orchestrator, {types: ['task_claim_overridden']}), [])
    })
  }
})

describe('a claiming client', () => {
  it('gets the most urgent external task, then the oldest, and no other kind', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submit(orchestrator, {priority: 'urgent'})
    const [first, second] = [submit(orchestrator, external), submit(orchestrator, external)]
    const urgent = submit(orchestrator, {...external, priority: 'urgent'})
    const ids = [1, 2, 3].map(() => takeClaim(orchestrator, {owner: 'x'}).task.id)
    assert.deepEqual(ids, [urgent, first, second])
    refused('no_task_to_claim', () => takeClaim(orchestrator, {owner: 'x'}))
  })

  it('gets tasks that the daemon never runs', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const {agent_id} = requireTask(orchestrator, submit(orchestrator, external))
    assert.equal(startOne(orchestrator, agent_id), undefined)
  })

  it('can ask for the tasks of one agent, by its name or its id', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const one = submit(orchestrator, {...external, target_agent: 'one'})
    const two = submit(orchestrator, {...external, target_agent: 'two'})
    assert.equal(takeClaim(orchestrator, {owner: 'x', agent: 'two'}).task.id, two)
    refused('no_task_to_claim', () => takeClaim(orchestrator, {owner: 'x', agent: 'two'}))
    assert.equal(
      takeClaim(orchestrator, {owner: 'x', agent: `A-0${requireTask(orchestrator, one).agent_id}`}).task.id,
      one,
    )
    refused('agent_not_found', () => takeClaim(orchestrator, {owner: 'x', agent: 'three'}))
  })

  it('is shown with its claim until the task has ended', async (t) => {
    const {orchestrator, id, generation} = await claimed(t)
    const {claim, status} = requireTask(orchestrator, id)
    assert.deepEqual(claim, {owner: 'first', generation: 1, expires_at_ms: orchestrator.clock.ms + 20_000})
    assert.equal(status, 'InProgress')
    acceptTask(orchestrator, id, {text: 'done'}, {generation})
    const {claim: gone, result} = requireTask(orchestrator, id)
    assert.deepEqual([gone, result], [undefined, {text: 'done'}])
  })

  it('keeps its task as long as it sends heartbeats', async (t) => {
    const {orchestrator, id, generation, wait} = await claimed(t)
    for (let i = 0; i < 10; i++) {
      wait(19_000)
      assert.equal(renewClaim(orchestrator, id, {generation, ttlMs: 20_000}), orchestrator.clock.ms + 20_000)
      assert.equal(freeDeadClaims(orchestrator), 0)
    }
    assert.equal(acceptTask(orchestrator, id, undefined, {generation}).outcome, 'completed')
  })

  it('loses its claim four intervals after its last heartbeat by default', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: '[orchestrator]\nheartbeat_interval_ms = 100\n'})
    submit(orchestrator, external)
    takeClaim(orchestrator, {owner: 'x'})
    orchestrator.clock.ms += 399
    assert.equal(freeDeadClaims(orchestrator), 0)
    orchestrator.clock.ms += 1
    assert.equal(freeDeadClaims(orchestrator), 1)
  })

  it('does not lose a claim immediately if it asks for more than the maximum', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submit(orchestrator, external)
    takeClaim(orchestrator, {owner: 'first', ttlMs: maxClaimMs + 1})
    refused('no_task_to_claim', () => takeClaim(orchestrator, {owner: 'second'}))
  })
})

describe('a client without heartbeats', () => {
  it('loses its task to the next client, in its former place in the queue', async (t) => {
    const {orchestrator, id, wait} = await claimed(t)
    const younger = submit(orchestrator, external)
    wait(20_000)
    const {task, generation} = takeClaim(orchestrator, {owner: 'second'})
    assert.deepEqual([task.id, task.retry_count, task.claim?.owner], [id, 1, 'second'])
    assert.ok(generation > 1)
    assert.equal(takeClaim(orchestrator, {owner: 'third'}).task.id, younger)
    const [event] = readEvents(orchestrator, {types: ['task_claim_expired']})
    assert.deepEqual(event?.kind, {
      type: 'task_claim_expired',
      task_id: id,
      agent_id: task.agent_id,
      owner: 'first',
      generation: 1,
    })
  })

  for (const [word, say] of Object.entries(words)) {
    it(`is rejected with a late ${word} once its task is requeued`, async (t) => {
      const {orchestrator, id, generation, wait} = await claimed(t)
      wait(20_000)
      freeDeadClaims(orchestrator)
      const before = contents(orchestrator)
      const {params} = refused('claim_lost', () => say(orchestrator, id, generation))
      assert.deepEqual(params, {task: 'T-0001', generation: 1, current: 2, status: 'Queued'})
      assert.deepEqual(contents(orchestrator), before)
    })

    it(`is rejected with a late ${word} while another client works on it`, async (t) => {
      const {orchestrator, id, generation, wait} = await claimed(t)
      wait(20_000)
      const second = takeClaim(orchestrator, {owner: 'second'})
      const before = contents(orchestrator)
      refused('claim_lost', () => say(orchestrator, id, generation))
      assert.deepEqual(contents(orchestrator), before)
      acceptTask(orchestrator, id, {text: 'in time'}, {generation: second.generation})
      // Only the repetition of its own request is answered like the first.
      if (word === 'complete') say(orchestrator, id, second.generation)
      else refused('claim_lost', () => say(orchestrator, id, second.generation))
      assert.equal(requireTask(orchestrator, id).result?.text, 'in time')
    })

    it(`is rejected with a ${word} after the task was cancelled`, async (t) => {
      const {orchestrator, id, generation} = await claimed(t)
      cancelTask(orchestrator, id)
      const before = contents(orchestrator)
      refused('claim_lost', () => say(orchestrator, id, generation))
      assert.deepEqual(contents(orchestrator), before)
    })
  }

  it('fails its task if that exceeds the time limit', async (t) => {
    const {orchestrator, id, generation, wait} = await claimed(t, {toml: '[orchestrator]\ntask_timeout_ms = 30000\n'})
    wait(15_000)
    renewClaim(orchestrator, id, {generation})
    wait(15_001)
    assert.equal(freeDeadClaims(orchestrator), 1)
    assert.deepEqual([statusOf(orchestrator, id), requireTask(orchestrator, id).status_reason], ['Failed', 'timeout'])
  })

  it('is detected by the next client even if that gets no task', async (t) => {
    const toml = '[orchestrator]\ntask_timeout_ms = 30000\n'
    const {orchestrator, id, generation, wait} = await claimed(t, {toml})
    wait(19_000)
    renewClaim(orchestrator, id, {generation, ttlMs: 20_000})
    wait(12_000)
    refused('no_task_to_claim', () => takeClaim(orchestrator, {owner: 'second'}))
    assert.equal(statusOf(orchestrator, id), 'Failed')
  })
})

describe('a claim while the clock changes', () => {
  for (const [how, ms] of [
    ['back', -3_600_000],
    ['forward', 3_600_000],
  ] as const)
    it(`never becomes valid for two clients if it is set an hour ${how}`, async (t) => {
      const {orchestrator, id, generation, wait} = await claimed(t, {
        toml: '[orchestrator]\ntask_timeout_ms = 7200000\n',
      })
      wait(ms)
      const second = takeClaim(orchestrator, {owner: 'second'})
      assert.equal(second.task.id, id)
      refused('claim_lost', () => acceptTask(orchestrator, id, undefined, {generation}))
      acceptTask(orchestrator, id, undefined, {generation: second.generation})
    })

  it('survives a small step back', async (t) => {
    const {orchestrator, id, generation, wait} = await claimed(t)
    wait(-60_000)
    assert.equal(freeDeadClaims(orchestrator), 0)
    renewClaim(orchestrator, id, {generation})
    acceptTask(orchestrator, id, undefined, {generation})
  })
})

describe('clients in several processes', () => {
  it('claim and complete each task exactly once', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
    const submissions = Array.from({length: 200}, () => ({description: 'work', ...external}))
    const ids = submitBatch(orchestrator, submissions).map(({task_id}) => task_id)
    const printed = await Promise.all(['a', 'b'].map((name) => runProgram('claim-all', orchestrator.root, name)))
    const done = printed.map((text) => JSON.parse(text) as number[])
    assert.deepEqual(
      done.flat().sort((a, b) => a - b),
      ids,
    )
    const counts = orchestrator.store.all('SELECT DISTINCT status, claim_generation FROM orch_tasks')
    assert.deepEqual(counts, [{status: 'Completed', claim_generation: 1}])
    assert.equal(readEvents(orchestrator, {types: ['task_completed']}).length, 200)
  })
})
