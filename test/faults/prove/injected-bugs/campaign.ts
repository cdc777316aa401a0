/** Campaigns against a control plane with an injected bug, and against the same one without it. */
import assert from 'node:assert/strict'
import {rm} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {type Focus, type Launch, prove, type Report} from '../../../../src/prove/index.js'
import {projectFile} from '../../../support/project.js'
import type {BugName} from './bugs.js'

export interface InjectedBug {
  bug: Exclude<BugName, 'none'>
  /** Invariant that detects the bug. */
  caught: Report['invariants'][number]['id']
  /** Clients that trigger the bug. */
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
const launch = (bug: BugName): Launch => [server, bug]
/** Maximum number of runs until a bug must be detected; on a slow machine little happens in the first one. */
const attempts = 4

export interface CampaignOptions {
  /** Seed of the first run. */
  seed: number
  /** Duration of the first run, s. */
  seconds: number
}

/** Each attempt uses another seed and takes twice as long as the previous one. */
const run = (attempt: number, {seed, seconds}: CampaignOptions, bug: BugName, clients: InjectedBug['clients']) =>
  prove({
    seed: seed + attempt - 1,
    minutes: (seconds * 2 ** (attempt - 1)) / 60,
    leaseMs: 1000,
    launch: launch(bug),
    focus: {clients, faults: []},
  })

const violationsOf = ({invariants}: Report) =>
  invariants.flatMap(({id, violations}) => violations.map(({what}) => `${id}: ${what}`))

/** Declares the tests of one bug. */
export function testBug({bug, caught, clients}: InjectedBug, options: CampaignOptions): void {
  describe(bug.replaceAll('-', ' '), {concurrency: 2}, () => {
    it(`is detected by ${caught}`, async () => {
      const seen: string[] = []
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const report = await run(attempt, options, bug, clients)
        seen.push(...violationsOf(report))
        const broken = report.invariants.filter(({held}) => !held).map(({id}) => id)
        assert.equal(report.held, broken.length === 0)
        if (report.folder !== null) await rm(report.folder, {recursive: true, force: true})
        if (broken.includes(caught)) return
      }
      assert.fail(`no violation of ${caught} in ${JSON.stringify(seen)}`)
    })

    it('is not reported without the bug', async () => {
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const report = await run(attempt, options, 'none', clients)
        assert.deepEqual(violationsOf(report), [])
        assert.deepEqual([report.held, report.folder], [true, null])
        const verdict = report.invariants.find(({id}) => id === caught)
        if ((verdict?.checked ?? 0) > 0) return
      }
      assert.fail(`${caught} was never checked`)
    })
  })
}
