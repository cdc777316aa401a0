import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {connectionFaults} from '../../../src/prove/faults/connection-faults.js'
import {peerFaults, serverFaults} from '../../../src/prove/faults/schedule.js'
import {prove} from '../../../src/prove/index.js'
import {assertFits} from '../../support/orch-workspace.js'
import {projectFile} from '../../support/project.js'
import {svcBinary} from '../../support/svc.js'

const seed = 20_261
const minOperations = 10_000

/** Faults of clients, in addition to those of the server and the network. */
const clientFaults = ['oversize', 'duplicate_node_id']

describe('mesh serve under a minute of injected faults', () => {
  it('keeps all invariants', async () => {
    assert.ok(svcBinary.startsWith(projectFile('bin')), 'tests the program itself')
    const report = await prove({
      seed,
      minutes: 1,
      operations: minOperations,
      launch: [svcBinary, 'mesh', 'serve'],
      delegation: {
        orchestrator: [svcBinary, 'daemon', 'run', '--listen', '127.0.0.1:0'],
        worker: [svcBinary, 'mesh', 'join', '--work'],
      },
    })
    const {invariants, faults, operations, folder} = report
    const broken = invariants.flatMap(({id, violations}) => violations.map(({what}) => `${id}: ${what}`))
    assert.deepEqual(broken, [], `seed ${seed}; see ${folder}`)
    assert.ok(operations >= minOperations, `${operations} operations`)
    const missing = [...serverFaults, ...peerFaults, ...connectionFaults, ...clientFaults].filter(
      (fault) => !((faults[fault] ?? 0) > 0),
    )
    assert.deepEqual(missing, [], 'faults that were never injected')
    const untested = invariants.filter(({checked}) => checked === 0).map(({id}) => id)
    assert.deepEqual(untested, [], 'invariants that were never checked')
    await assertFits('cli/mesh-prove.v1', report)
  })
})
