import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {maxLeasesListed} from '../../../src/mesh/protocol/lease.js'
import {askDocumented} from './support/contract.js'
import {type Plane, startPlane} from './support/control-plane.js'
import {record} from './support/samples.js'

const list = async (plane: Plane) => (await askDocumented(plane, 'GET', '/v1/mesh/exec/leases')).body

describe('lease list', () => {
  it('reports truncation', async (t) => {
    const plane = await startPlane(t)
    await plane.store.join('', record('n-1') as never)
    const grant = (key: number) => plane.store.grantLease('', {scopeKey: `task:${key}`, claimer: 'n-1'})
    await Promise.all(Array.from({length: maxLeasesListed}, (_, key) => grant(key)))
    const whole = await list(plane)
    assert.deepEqual([whole.leases.length, 'truncated' in whole], [maxLeasesListed, false])
    const {lease_id: lease} = await grant(maxLeasesListed)
    const cut = await list(plane)
    assert.deepEqual([cut.leases.length, cut.truncated], [maxLeasesListed, true])
    await plane.store.releaseLease('', {lease, claimer: 'n-1'})
    assert.equal('truncated' in (await list(plane)), false)
  })
})
