import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import * as modules from '../../src/orchestrator/index.js'
import {external, Peer, type Reply} from './support/daemon.js'
import {openTestServer} from './support/open-test-server.js'

const submit = (id: number, params: object = external(`task ${id} ${'x'.repeat(500)}`)) => ({
  jsonrpc: '2.0',
  id,
  method: 'orch.submit_task',
  params,
})
const idsOf = (answers: readonly Reply[]) =>
  answers.flatMap(({result}) => (result === undefined ? [] : [(result as {task_id: number}).task_id]))

describe('group commit of requests', () => {
  it('executes or refuses each request separately', async (t) => {
    const {addr, orchestrator} = await openTestServer(t)
    const peer = await Peer.connect(t, addr)
    const count = 400
    peer.send(
      ...Array.from({length: count}, (_, i) => {
        if (i % 4 === 1) return submit(i, {...external('x'), depends_on: [9999]})
        if (i % 4 === 2) return {jsonrpc: '2.0', id: i, method: 'orch.task_status', params: {task_id: 1}}
        return i % 4 === 3 ? 'rubbish' : submit(i)
      }),
    )
    const answers = await peer.nextOf(count)
    for (const [i, {id, error, result}] of answers.entries())
      assert.deepEqual(
        i % 4 === 3 ? error?.data.kind : [id, error?.data.kind, result !== undefined],
        [[i, undefined, true], [i, 'dependency_unknown', false], [i, undefined, true], 'request_unparsable'][i % 4],
      )
    const taken = idsOf(answers.filter((_, i) => i % 4 === 0))
    assert.equal(taken.length, count / 4)
    assert.deepEqual(
      modules.tasks.listTasks(orchestrator, {limit: 1000}).map(({id}) => id),
      [...taken].reverse(),
    )
  })

  it('commits before the responses are sent', async (t) => {
    const {addr, orchestrator} = await openTestServer(t)
    const other = await modules.openOrchestrator({root: orchestrator.root, sources: {env: {}}})
    t.after(() => other.close())
    const version = () => other.store.get<{data_version: number}>('PRAGMA data_version')?.data_version
    const peer = await Peer.connect(t, addr)
    await peer.ask(submit(0))
    const versions = new Set([version()])
    const count = 200
    peer.send(...Array.from({length: count}, (_, i) => submit(i)))
    for (let i = 0; i < count; i++) {
      const [id] = idsOf([await peer.next()])
      // A confirmed task must be visible to other processes.
      assert.ok(modules.tasks.requireTask(other, id as number))
      versions.add(version())
    }
    assert.ok(versions.size < count / 2, `${versions.size} commits`)
  })

  it('reports an error to all requests if the commit fails', async (t) => {
    const {addr, orchestrator} = await openTestServer(t)
    const {store} = orchestrator
    const peer = await Peer.connect(t, addr)
    await peer.ask(submit(0))
    const pages = store.get<{page_count: number}>('PRAGMA page_count')?.page_count ?? 0
    store.get(`PRAGMA max_page_count = ${pages + 40}`)
    const count = 400
    peer.send(...Array.from({length: count}, (_, i) => submit(i + 1)))
    const answers = await peer.nextOf(count)
    assert.deepEqual(
      answers.map(({id}) => id),
      Array.from({length: count}, (_, i) => i + 1),
    )
    const kept = idsOf(answers)
    const lost = answers.filter(({error}) => error !== undefined)
    assert.ok(kept.length > 0 && lost.length > 0, `${kept.length} kept, ${lost.length} lost`)
    for (const {error} of lost) assert.equal(error?.data.kind, 'store_unwritable')
    const found = modules.tasks.listTasks(orchestrator, {limit: 1000}).map(({id}) => id)
    assert.deepEqual(found.slice(0, -1).reverse(), kept, 'exactly what was told to be taken is there')

    store.get('PRAGMA max_page_count = 1000000')
    assert.equal((await peer.ask(submit(1000))).error, undefined)
  })
})
