import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {maxWaitMs} from '../../../src/mesh/protocol/message-body.js'
import {PostgresCluster, skipWithoutPostgres} from '../../support/postgres.js'
import {newStoreDatabase} from '../store/postgres/open-store.js'
import {ask} from './support/ask.js'
import {startPlane, waiting} from './support/control-plane.js'
import {message, record} from './support/samples.js'

describe('two control planes of one database', {skip: skipWithoutPostgres}, () => {
  it('end a long poll of the other when a message arrives', async (t) => {
    const url = await newStoreDatabase()
    // Only a notification can end the poll before its end.
    const [here, there] = [
      await startPlane(t, {url, safetyMs: maxWaitMs}),
      await startPlane(t, {url, safetyMs: maxWaitMs}),
    ]
    await ask(here, 'POST', '/v1/mesh/join', {body: record('n-1')})
    const begun = performance.now()
    const poll = ask(there, 'POST', '/v1/mesh/a2a/inbox', {
      body: {receiver_agent_id: '2', claimer_node_id: 'n-1', wait_ms: maxWaitMs},
    })
    await waiting(there, 1)
    const {body: delivered} = await ask(here, 'POST', '/v1/mesh/a2a/deliver', {body: message()})
    const {body} = await poll
    assert.equal(body.messages[0].id, delivered.message_id)
    assert.ok(performance.now() - begun < maxWaitMs / 2)
    const {status} = await ask(here, 'POST', '/v1/mesh/a2a/ack', {
      body: {receiver_agent_id: '2', message_id: delivered.message_id, claimer_node_id: 'n-1'},
    })
    assert.equal(status, 204)
  })
})

describe('a control plane without its database server', {skip: skipWithoutPostgres}, () => {
  it('runs but is not ready', async (t) => {
    const cluster = new PostgresCluster()
    const plane = await startPlane(t, {url: cluster.urlOf('postgres')})
    assert.equal((await ask(plane, 'GET', '/health')).status, 200)
    cluster.stop('fast')
    const {status, text} = await ask(plane, 'GET', '/health', {query: 'ready=1'})
    assert.equal(status, 503)
    assert.doesNotMatch(text, /svc-postgres/)
    assert.equal((await ask(plane, 'GET', '/health')).status, 200)
    assert.equal((await ask(plane, 'GET', '/v1/mesh/nodes')).status, 503)
  })
})
