import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {pruneEvents} from '../../src/tasks/events/event-log.js'
import {
  awardsOf,
  doubtTask,
  type EventRecord,
  followEvents,
  lastEventId,
  readEvents,
  resolveDoubt,
  takeClaim,
} from '../../src/tasks/index.js'
import type {WorkspaceContext} from '../../src/workspace/index.js'
import {runProgram} from '../orchestrator/support/child-process.js'
import {openTestOrchestrator, startMs} from '../orchestrator/support/open-test-orchestrator.js'
import {complete, submit} from '../orchestrator/support/tasks.js'

const typesOf = (events: readonly EventRecord[]) => events.map(({kind}) => kind.type)

describe('the events of a workspace', () => {
  it('describe a task from its submission to its end', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    orchestrator.clock.ms += 5
    const logged: unknown[] = []
    const placementLog = {info: (facts: unknown) => void logged.push(facts)}
    const id = submit(
      {...orchestrator, placementLog},
      {
        session_id: 's',
        journey_id: 'j',
        thread_id: 'th',
        trace_id: 'tr',
        correlation_id: 'c',
      },
    )
    complete(orchestrator, id)
    const events = readEvents(orchestrator, {taskId: id})
    assert.deepEqual(typesOf(events), ['task_submitted', 'task_placed', 'task_started', 'task_completed'])
    for (const {correlation, timestamp_ms} of events) {
      assert.deepEqual(correlation, {
        session_id: 's',
        journey_id: 'j',
        thread_id: 'th',
        trace_id: 'tr',
        correlation_id: 'c',
      })
      assert.equal(timestamp_ms, startMs + 5)
    }
    const placement = {
      task_id: id,
      agent_id: 1,
      placement_reason: 'local_queue_default',
      lease_id: null,
      queue_len: 1,
      trace_id: 'tr',
    }
    assert.deepEqual(events[1]?.kind, {type: 'task_placed', ...placement})
    assert.deepEqual(logged, [{event: 'task_placed', ...placement}])
  })

  it('contain only the beginning of a description', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submit(orchestrator, {description: 'x'.repeat(100_000)})
    const [event] = readEvents(orchestrator, {types: ['task_submitted']})
    assert.ok(JSON.stringify(event).length < 1000)
  })

  it('can be read in pages, by kind, by task, and from an id', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const ids = [1, 2, 3].map(() => submit(orchestrator))
    const all = readEvents(orchestrator)
    assert.deepEqual(
      all.map(({id}) => id),
      all.map((_, i) => (all[0]?.id ?? 0) + i),
    )
    assert.equal(lastEventId(orchestrator), all.at(-1)?.id)
    const pages: EventRecord[] = []
    for (let page = readEvents(orchestrator, {limit: 2}); page.length > 0; ) {
      pages.push(...page)
      page = readEvents(orchestrator, {limit: 2, since: pages.at(-1)?.id ?? 0})
    }
    assert.deepEqual(pages, all)
    assert.deepEqual(typesOf(readEvents(orchestrator, {taskId: ids[1] ?? 0})), ['task_submitted', 'task_placed'])
    assert.equal(readEvents(orchestrator, {types: ['task_placed', 'agent_spawned']}).length, 4)
    assert.deepEqual(readEvents(orchestrator, {types: ['no_such_type']}), [])
  })

  it('are not written by rejected calls', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submit(orchestrator)
    const last = lastEventId(orchestrator)
    assert.throws(() => submit(orchestrator, {depends_on: [99]}))
    assert.throws(() => takeClaim(orchestrator, {owner: 'x'}))
    assert.equal(lastEventId(orchestrator), last)
    submit(orchestrator)
    assert.equal(readEvents(orchestrator, {since: last})[0]?.id, last + 1)
  })
})

/** Follows events until a number of a kind have arrived. */
async function follow(context: WorkspaceContext, since: number, kind: string, count: number): Promise<EventRecord[]> {
  const events: EventRecord[] = []
  let left = count
  for await (const event of followEvents(context, {since}, AbortSignal.timeout(60_000))) {
    events.push(event)
    if (event.kind.type === kind && --left === 0) break
  }
  assert.equal(left, 0, `${left} more of ${kind} should have come`)
  return events
}

describe('a follower of events', () => {
  it('sees all events of several processes once and in order, even when it resumes from an id', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
    const other = await openTestOrchestrator(t, {root: orchestrator.root, clock: 'real'})
    const writers = Promise.all(['a', 'b'].map((word) => runProgram('write-events', orchestrator.root, '100', word)))
    const first = await follow(orchestrator, 0, 'task_placed', 80)
    const rest = await follow(other, first.at(-1)?.id ?? 0, 'task_placed', 120)
    await writers
    const seen = [...first, ...rest].map(({id}) => id)
    const written = orchestrator.store.all<{id: number}>('SELECT id FROM orch_events ORDER BY id').map(({id}) => id)
    assert.deepEqual(seen, written.slice(0, seen.length))
    assert.equal(readEvents(orchestrator, {types: ['task_placed']}).length, 200)
    assert.deepEqual(typesOf(readEvents(orchestrator, {since: seen.at(-1) ?? 0})), [])
  })

  it('starts with new events and ends when it is aborted', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submit(orchestrator)
    const controller = new AbortController()
    const seen: EventRecord[] = []
    const following = (async () => {
      for await (const event of followEvents(orchestrator, {types: ['task_submitted']}, controller.signal))
        seen.push(event)
    })()
    const id = submit(orchestrator)
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    controller.abort()
    await following
    assert.deepEqual(
      seen.map(({kind}) => 'task_id' in kind && kind.task_id),
      [id],
    )
  })
})

describe('old events', () => {
  for (const [days, left] of [
    [10, 2],
    [1, 0],
  ] as const)
    it(`are deleted after ${days} days`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      submit(orchestrator)
      const before = readEvents(orchestrator).length
      orchestrator.clock.ms += 5 * 86_400_000
      submit(orchestrator)
      orchestrator.clock.ms += 6 * 86_400_000
      assert.equal(pruneEvents(orchestrator, days), days === 10 ? before : before + 2)
      assert.equal(readEvents(orchestrator).length, left)
    })

  it('are kept together with the awards that they caused', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    doubtTask(orchestrator, id)
    resolveDoubt(orchestrator, id, {validated: false, report: 'yes-man'})
    orchestrator.clock.ms += 100 * 86_400_000
    pruneEvents(orchestrator, 1)
    assert.deepEqual(typesOf(readEvents(orchestrator)), ['task_resolved'])
    assert.equal(awardsOf(orchestrator, id).length, 2)
    const last = lastEventId(orchestrator)
    submit(orchestrator)
    assert.ok((readEvents(orchestrator, {since: last})[0]?.id ?? 0) > last)
  })
})
