/** Campaigns in which orchestrators have an injected bug, and the same ones without it. */
import assert from 'node:assert/strict'
import {rm} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {usualRates} from '../../../../src/prove/faults/connection-faults.js'
import {type DelegationOptions, type Focus, prove, type Report} from '../../../../src/prove/index.js'
import {projectFile} from '../../../support/project.js'
import {svcBinary} from '../../../support/svc.js'
import type {MutationName} from './mutations.js'

export interface OrchestratorBug {
  bug: MutationName
  /** Invariant that detects the bug. */
  caught: Report['invariants'][number]['id']
  /** Clients and faults that trigger the bug. */
  focus: Focus
  /** Durations of the tasks, s, and their weights. */
  durations?: DelegationOptions['durations']
}

const lossy = {...usualRates, drop_after: 0.15}

export const orchestratorBugs: readonly OrchestratorBug[] = [
  {
    bug: 'accepts-any-result',
    caught: 'I-10',
    focus: {clients: {}, faults: ['orchestrator_cut']},
    // Tasks that have fallen back are still open when the results of the workers arrive.
    durations: {'1.5': 1},
  },
  {bug: 'relays-again-after-timeout', caught: 'I-11', focus: {clients: {}, faults: [], connectionFaults: lossy}},
  {bug: 'hold-lost-on-restart', caught: 'I-9', focus: {clients: {}, faults: ['orchestrator_kill']}},
  {bug: 'renews-after-revoke', caught: 'I-21', focus: {clients: {administrator: 4}, faults: []}},
]

const program = projectFile('dist/test/faults/prove/injected-bugs/daemon-with-bug.js')
/** Maximum number of runs until a bug must be detected. */
const attempts = 4

const run = (
  attempt: number,
  seconds: number,
  bug: MutationName | 'none',
  {focus, durations}: Pick<OrchestratorBug, 'focus' | 'durations'>,
) =>
  prove({
    seed: attempt,
    minutes: (seconds * 2 ** (attempt - 1)) / 60,
    launch: [svcBinary, 'mesh', 'serve'],
    delegation: {
      orchestrators: 2,
      workers: 2,
      orchestrator: [program, bug, '--listen', '127.0.0.1:0'],
      worker: [svcBinary, 'mesh', 'join', '--work'],
      ...(durations === undefined ? {} : {durations}),
      ...(bug === 'none' ? {} : {settleMs: 5000}),
    },
    focus,
  })

const violationsOf = ({invariants}: Report) =>
  invariants.flatMap(({id, violations}) => violations.map(({what}) => `${id}: ${what}`))

/** Declares the tests of one bug. @param seconds duration of the first run */
export function testOrchestratorBug({bug, caught, ...how}: OrchestratorBug, seconds: number): void {
  describe(bug.replaceAll('-', ' '), () => {
    it(`is detected by ${caught}`, async () => {
      const seen: string[] = []
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const report = await run(attempt, seconds, bug, how)
        seen.push(...violationsOf(report))
        if (report.folder !== null) await rm(report.folder, {recursive: true, force: true})
        if (report.invariants.some(({id, held}) => id === caught && !held)) return
      }
      assert.fail(`no violation of ${caught} in ${JSON.stringify(seen)}`)
    })

    it('is not reported without the bug', async () => {
      const report = await run(1, seconds, 'none', how)
      assert.deepEqual(violationsOf(report), [])
      const verdict = report.invariants.find(({id}) => id === caught)
      assert.ok((verdict?.checked ?? 0) > 0)
    })
  })
}
