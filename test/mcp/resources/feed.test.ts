import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {ResourceFeed} from '../../../src/mcp/index.js'
import type {OperationBase} from '../../../src/operations/index.js'
import * as modules from '../../../src/orchestrator/index.js'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {until} from '../../support/orch-workspace.js'

/** A feed of a workspace with two tasks, and watchers that record their notifications. */
async function watched(t: TestContext) {
  const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
  let opened = 0
  const feed = new ResourceFeed(async () => {
    opened++
    return {modules, orchestrator} as unknown as OperationBase
  })
  t.after(() => feed.close())
  for (const description of ['one', 'two']) modules.tasks.submitTask(orchestrator, {description})
  const watcher = () => {
    const received: string[] = []
    return {
      received,
      updated: (uri: string) => {
        received.push(uri)
      },
      listed: () => {
        received.push('list')
      },
    }
  }
  return {feed, orchestrator, watcher, opened: () => opened}
}

const first = {kind: 'task', id: 1} as const
const second = {kind: 'task', id: 2} as const

describe('ResourceFeed', () => {
  it('polls the store only while there are subscriptions', async (t) => {
    const {feed, watcher, opened} = await watched(t)
    const [a, b] = [watcher(), watcher()]
    assert.deepEqual([feed.runs, opened()], [false, 0])
    await feed.subscribe(a, first, 'svc://tasks/1')
    await feed.subscribe(a, second, 'svc://tasks/2')
    await feed.subscribe(b, first, 'svc://tasks/1')
    assert.equal(feed.runs, true)
    feed.unsubscribe(a, 'svc://tasks/1')
    feed.unsubscribe(a, 'svc://tasks/1')
    assert.equal(feed.runs, true)
    feed.leave(a)
    assert.equal(feed.runs, true)
    feed.leave(b)
    assert.equal(feed.runs, false)
  })

  it('reports each new change once, only to watchers of the resource', async (t) => {
    const {feed, watcher, orchestrator} = await watched(t)
    const [a, b] = [watcher(), watcher()]
    modules.tasks.doubtTask(orchestrator, 1)
    await feed.subscribe(a, first, 'svc://tasks/T-0001')
    await feed.subscribe(b, second, 'svc://tasks/2')
    await feed.subscribe(b, {kind: 'transcript', id: 2}, 'svc://tasks/2/transcript')
    modules.tasks.cancelTask(orchestrator, 2)
    await until(() => b.received.length > 0, 'the second watcher is notified')
    assert.deepEqual([a.received, b.received], [[], ['svc://tasks/2', 'svc://tasks/2/transcript']])
    modules.tasks.cancelTask(orchestrator, 1)
    await until(() => a.received.length > 0, 'the first watcher is notified')
    assert.deepEqual([a.received, b.received.length], [['svc://tasks/T-0001'], 2])
  })

  it('does not report changes made while there were no subscriptions', async (t) => {
    const {feed, watcher, orchestrator} = await watched(t)
    const a = watcher()
    await feed.subscribe(a, first, 'x')
    feed.leave(a)
    modules.tasks.doubtTask(orchestrator, 1)
    await feed.subscribe(a, {kind: 'tasks'}, 'all')
    modules.tasks.submitTask(orchestrator, {description: 'three'})
    await until(() => a.received.includes('list'), 'there is a new task')
    assert.deepEqual(a.received, ['all', 'list'])
  })
})
