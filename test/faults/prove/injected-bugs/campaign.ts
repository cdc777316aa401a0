/** Runs of `svc mesh prove` against a control plane with one bug, and against the same one without. */
import assert from 'node:assert/strict'
import {rm} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {type Focus, type Launch, prove, type Report} from '../../../../src/prove/index.js'
import {projectFile} from '../../../support/project.js'
import type {BugName} from './bugs.js'

export interface InjectedBug {
  bug: Exclude<BugName, 'none'>
  /** The invariant that finds it out. */
  caught: Report['invariants'][number]['id']
  /** Who meets it. */
  clients: NonNullable<Focus['clients']>
}

export const injectedBugs: readonly InjectedBug[] = [
  {bug: 'token-before-lock', caught: 'I-5', clients: {'lease-worker': 8}},
  {bug: 'ack-without-holder', caught: 'I-12', clients: {sender: 2, receiver: 6}},
  {bug: 'guess-burns-bootstrap', caught: 'I-15', clients: {newcomer: 1}},
  {bug: 'dedupe-lost-after-ack', caught: 'I-6', clients: {sender: 3, receiver: 3}},
  {bug: 'join-ends-quarantine', caught: 'I-13', clients: {administrator: 2}},
  {bug: 'expired-lease-renewed', caught: 'I-12', clients: {'lease-worker': 2}},
]

const server = projectFile('dist/test/faults/prove/injected-bugs/server.js')
const launch =
  (bug: BugName): Launch =>
  () => [server, bug]
/** In how many runs a bug may hide; on a slow machine little happens in the first. */
const attempts = 4

/** A run of a seed. Each attempt takes longer than the one before. */
const run = (attempt: number, seconds: number, bug: BugName, clients: InjectedBug['clients']) =>
  prove({
    seed: attempt,
    minutes: (seconds * 2 ** (attempt - 1)) / 60,
    leaseMs: 1000,
    launch: launch(bug),
    focus: {clients, serverFaults: []},
  })

const violationsOf = ({invariants}: Report) =>
  invariants.flatMap(({id, violations}) => violations.map(({what}) => `${id}: ${what}`))

/** Declares the tests of one bug; `seconds` is how long clients go on in the first run. */
export function testBug({bug, caught, clients}: InjectedBug, seconds: number): void {
  describe(bug.replaceAll('-', ' '), {concurrency: 2}, () => {
    it(`breaks ${caught}, and the run says how`, async () => {
      const seen: string[] = []
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const report = await run(attempt, seconds, bug, clients)
        seen.push(...violationsOf(report))
        const broken = report.invariants.filter(({held}) => !held).map(({id}) => id)
        assert.equal(report.held, broken.length === 0)
        if (report.folder !== null) await rm(report.folder, {recursive: true, force: true})
        if (broken.includes(caught)) return
      }
      assert.fail(`nothing of ${caught} in ${JSON.stringify(seen)}`)
    })

    it('is not seen where it is not', async () => {
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const report = await run(attempt, seconds, 'none', clients)
        assert.deepEqual(violationsOf(report), [])
        assert.deepEqual([report.held, report.folder], [true, null])
        const verdict = report.invariants.find(({id}) => id === caught)
        if ((verdict?.checked ?? 0) > 0) return
      }
      assert.fail(`${caught} was never put to the test`)
    })
  })
}
