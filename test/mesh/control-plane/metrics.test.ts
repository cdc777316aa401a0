import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {ask} from './support/ask.js'
import {startPlane} from './support/control-plane.js'
import {message, record} from './support/samples.js'

describe('metrics', () => {
  it('come from the counters of the store, without listing rows', async (t) => {
    const plane = await startPlane(t)
    for (const id of ['n-1', 'n-2', 'n-3']) await ask(plane, 'POST', '/v1/mesh/join', {body: record(id)})
    await ask(plane, 'POST', '/v1/mesh/leave', {body: {id: 'n-3'}})
    await ask(plane, 'POST', '/v1/mesh/exec/lease/grant', {body: {scope_key: 'k', claimer_node_id: 'n-1'}})
    await ask(plane, 'POST', '/v1/mesh/a2a/deliver', {body: message()})
    const asked: string[] = []
    plane.trouble.asked = asked
    const {text} = await ask(plane, 'GET', '/metrics')
    for (const line of ['nodes 2', 'leases 1', 'messages_pending 1', 'messages_dead 0'])
      assert.ok(text.includes(`\nsvc_mesh_${line}\n`), line)
    assert.deepEqual(asked, ['counts'])
  })
})
