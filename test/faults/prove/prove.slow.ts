import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {connectionFaults} from '../../../src/prove/faults/connection-faults.js'
import {databaseFaults, peerFaults, serverFaults} from '../../../src/prove/faults/schedule.js'
import {prove} from '../../../src/prove/index.js'
import {campaignSeed} from '../../support/campaign-seed.js'
import {assertFits} from '../../support/orch-workspace.js'
import {PostgresCluster, skipWithoutPostgres} from '../../support/postgres.js'
import {projectFile} from '../../support/project.js'
import {svcBinary} from '../../support/svc.js'

const seed = campaignSeed(import.meta.url)
const minOperations = 20_000

/** Faults of clients, in addition to those of the programs and the network. */
const clientFaults = ['oversize', 'duplicate_node_id']

const usual = {
  seed,
  minutes: 2,
  operations: minOperations,
  launch: [svcBinary, 'mesh', 'serve'],
  delegation: {
    orchestrator: [svcBinary, 'daemon', 'run', '--listen', '127.0.0.1:0'],
    worker: [svcBinary, 'mesh', 'join', '--work'],
  },
}

/** Runs the campaign, and checks that it has injected the faults and checked all invariants. */
async function provesAll(more: Partial<Parameters<typeof prove>[0]>, expected: readonly string[]): Promise<void> {
  assert.ok(svcBinary.startsWith(projectFile('bin')), 'tests the program itself')
  const report = await prove({...usual, ...more})
  const {invariants, faults, operations, folder} = report
  const broken = invariants.flatMap(({id, violations}) => violations.map(({what}) => `${id}: ${what}`))
  assert.deepEqual(broken, [], `seed ${seed}; see ${folder}`)
  assert.ok(operations >= minOperations, `${operations} operations`)
  const missing = [...expected, ...serverFaults, ...peerFaults, ...connectionFaults, ...clientFaults].filter(
    (fault) => !((faults[fault] ?? 0) > 0),
  )
  assert.deepEqual(missing, [], 'faults that were never injected')
  const untested = invariants.filter(({checked}) => checked === 0).map(({id}) => id)
  assert.deepEqual(untested, [], 'invariants that were never checked')
  await assertFits('cli/mesh-prove.v1', report)
}

describe('a mesh under two minutes of injected faults', () => {
  it('keeps all invariants with one control plane', () => provesAll({}, []))

  it('keeps all invariants with two control planes on PostgreSQL', {skip: skipWithoutPostgres}, async () => {
    const cluster = new PostgresCluster({hasOwnClock: true})
    const database = await cluster.createSmallDatabase('prove')
    const {setClock} = cluster
    let restarts = 0
    const possible = {
      ...database,
      ...(setClock === undefined ? {} : {setClock}),
      async restart() {
        cluster.stop(restarts++ % 2 === 0 ? 'immediate' : 'fast')
        cluster.start()
      },
    }
    const expected = databaseFaults.filter(
      (fault) =>
        (fault !== 'database_clock' || setClock !== undefined) &&
        (fault !== 'database_full' || database.setFull !== undefined),
    )
    await provesAll({database: possible}, expected)
  })
})
