import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {ResourceFeed} from '../../../src/mcp/index.js'
import type {OperationBase} from '../../../src/operations/index.js'
import * as modules from '../../../src/orchestrator/index.js'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {until} from '../../support/orch-workspace.js'

/** A feed of a workspace with two tasks, and watchers that write down what they are told. */
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
    const told: string[] = []
    return {
      told,
      updated: (uri: string) => {
        told.push(uri)
      },
      listed: () => {
        told.push('list')
      },
    }
  }
  return {feed, orchestrator, watcher, opened: () => opened}
}

const first = {kind: 'task', id: 1} as const
const second = {kind: 'task', id: 2} as const

describe('the feed of resources', () => {
  it('looks at the store only while somebody subscribes', async (t) => {
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

  it('tells each watcher of its own resources, of nothing that was before, and of each change once', async (t) => {
    const {feed, watcher, orchestrator} = await watched(t)
    const [a, b] = [watcher(), watcher()]
    modules.tasks.doubtTask(orchestrator, 1)
    await feed.subscribe(a, first, 'svc://tasks/T-0001')
    await feed.subscribe(b, second, 'svc://tasks/2')
    await feed.subscribe(b, {kind: 'transcript', id: 2}, 'svc://tasks/2/transcript')
    modules.tasks.cancelTask(orchestrator, 2)
    await until(() => b.told.length > 0, 'the second is told')
    assert.deepEqual([a.told, b.told], [[], ['svc://tasks/2', 'svc://tasks/2/transcript']])
    modules.tasks.cancelTask(orchestrator, 1)
    await until(() => a.told.length > 0, 'the first is told')
    assert.deepEqual([a.told, b.told.length], [['svc://tasks/T-0001'], 2])
  })

  it('starts anew after a rest, without what happened meanwhile', async (t) => {
    const {feed, watcher, orchestrator} = await watched(t)
    const a = watcher()
    await feed.subscribe(a, first, 'x')
    feed.leave(a)
    modules.tasks.doubtTask(orchestrator, 1)
    await feed.subscribe(a, {kind: 'tasks'}, 'all')
    modules.tasks.submitTask(orchestrator, {description: 'three'})
    await until(() => a.told.includes('list'), 'there is a new task')
    assert.deepEqual(a.told, ['all', 'list'])
  })
})
