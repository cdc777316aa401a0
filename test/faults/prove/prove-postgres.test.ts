import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {prove} from '../../../src/prove/index.js'
import {createDatabase, skipWithoutPostgres} from '../../support/postgres.js'
import {svcBinary} from '../../support/svc.js'

/** A slice of the campaign in `prove.slow.ts`. */
describe('two control planes on PostgreSQL under injected faults', {skip: skipWithoutPostgres}, () => {
  it('keep all invariants', async () => {
    const report = await prove({
      seed: 1,
      minutes: 0.08,
      operations: 300,
      launch: [svcBinary, 'mesh', 'serve'],
      database: {url: await createDatabase()},
      focus: {
        clients: {node: 2, 'lease-worker': 3, sender: 2, receiver: 3, administrator: 1},
        faults: ['database_disconnect', 'kill'],
      },
    })
    const broken = report.invariants.flatMap(({id, violations}) => violations.map(({what}) => `${id}: ${what}`))
    assert.deepEqual(broken, [], `see ${report.folder}`)
    assert.ok(Number(report.faults.database_disconnect ?? 0) + Number(report.faults.kill ?? 0) > 0)
  })
})
