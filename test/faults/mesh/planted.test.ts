import assert from 'node:assert/strict'
import {rm} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {type Focus, type Launch, prove, type Report} from '../../../src/mesh/index.js'
import {projectFile} from '../../support/project.js'
import type {BugName} from './planted/bugs.js'

interface Planted {
  bug: Exclude<BugName, 'none'>
  /** The invariant that finds it out. */
  caught: Report['invariants'][number]['id']
  /** Who meets it. */
  clients: NonNullable<Focus['clients']>
}

const planted: readonly Planted[] = [
  {bug: 'token-before-lock', caught: 'I-5', clients: {'lease-worker': 8}},
  {bug: 'ack-without-holder', caught: 'I-12', clients: {sender: 2, receiver: 6}},
  {bug: 'guess-burns-bootstrap', caught: 'I-15', clients: {newcomer: 1}},
  {bug: 'dedupe-lost-after-ack', caught: 'I-6', clients: {sender: 3, receiver: 3}},
  {bug: 'join-ends-quarantine', caught: 'I-13', clients: {administrator: 2}},
  {bug: 'expired-lease-renewed', caught: 'I-12', clients: {'lease-worker': 2}},
]

const server = projectFile('dist/test/faults/mesh/planted/server.js')
const launch =
  (bug: BugName): Launch =>
  () => [server, bug]
/** How long clients go on, and in how many runs of other seeds a bug may hide. */
const seconds = 4
const seeds = [1, 2, 3, 4]

const run = (seed: number, bug: BugName, clients: Planted['clients']) =>
  prove({seed, minutes: seconds / 60, leaseMs: 1000, launch: launch(bug), focus: {clients, serverFaults: []}})

const told = ({invariants}: Report) =>
  invariants.flatMap(({id, violations}) => violations.map(({what}) => `${id}: ${what}`))

describe('a bug of a control plane', () => {
  for (const {bug, caught, clients} of planted)
    describe(bug.replaceAll('-', ' '), {concurrency: 2}, () => {
      it(`breaks ${caught}, and the run says how`, async () => {
        const seen: string[] = []
        for (const seed of seeds) {
          const report = await run(seed, bug, clients)
          seen.push(...told(report))
          const broken = report.invariants.filter(({held}) => !held).map(({id}) => id)
          assert.equal(report.held, broken.length === 0)
          if (report.folder !== null) await rm(report.folder, {recursive: true, force: true})
          if (broken.includes(caught)) return
        }
        assert.fail(`nothing of ${caught} in ${JSON.stringify(seen)}`)
      })

      it('is not seen where it is not', async () => {
        const report = await run(seeds[0] ?? 1, 'none', clients)
        assert.deepEqual(told(report), [])
        assert.deepEqual([report.held, report.folder], [true, null])
        const verdict = report.invariants.find(({id}) => id === caught)
        assert.ok((verdict?.checked ?? 0) > 0, `${caught} was put to the test`)
      })
    })
})
