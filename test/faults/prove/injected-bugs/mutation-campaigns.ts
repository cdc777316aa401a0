/** Campaigns in which programs have an injected bug, and the same ones without it. */
import assert from 'node:assert/strict'
import {rm} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {usualRates} from '../../../../src/prove/faults/connection-faults.js'
import {type DelegationOptions, type Focus, prove, type Report} from '../../../../src/prove/index.js'
import {createDatabase, skipWithoutPostgres} from '../../../support/postgres.js'
import {projectFile} from '../../../support/project.js'
import {svcBinary} from '../../../support/svc.js'
import type {CampaignOptions} from './campaign.js'
import type {MutationName} from './mutations.js'

export interface MutationCampaign {
  bug: MutationName
  /** Programs with the bug: orchestrators, or two control planes on PostgreSQL. */
  of: 'orchestrators' | 'control planes'
  /** Invariant that detects the bug. */
  caught: Report['invariants'][number]['id']
  /** Clients and faults that trigger the bug. */
  focus: Focus
  /** Durations of the tasks, s, and their weights. */
  durations?: DelegationOptions['durations']
}

const lossy = {...usualRates, drop_after: 0.15}
const calm = {clients: {}, faults: []}

export const mutationCampaigns: readonly MutationCampaign[] = [
  {
    ...{bug: 'accepts-any-result', of: 'orchestrators', caught: 'I-10'},
    focus: {...calm, faults: ['orchestrator_cut']},
    // Tasks that have fallen back are still open when the results of the workers arrive.
    durations: {'1.5': 1},
  },
  {
    ...{bug: 'relays-again-after-timeout', of: 'orchestrators', caught: 'I-11'},
    focus: {...calm, connectionFaults: lossy},
  },
  {
    ...{bug: 'hold-lost-on-restart', of: 'orchestrators', caught: 'I-9'},
    focus: {...calm, faults: ['orchestrator_kill']},
  },
  {
    ...{bug: 'renews-after-revoke', of: 'orchestrators', caught: 'I-21'},
    focus: {...calm, clients: {administrator: 4}},
  },
  {
    ...{bug: 'token-drawn-before-lock', of: 'control planes', caught: 'I-5'},
    focus: {...calm, clients: {'lease-worker': 8}},
  },
  {...{bug: 'lost-wake-up', of: 'control planes', caught: 'I-8'}, focus: calm},
]

const program = projectFile('dist/test/faults/prove/injected-bugs/command-with-bug.js')
/** Maximum number of runs until a bug must be detected. */
const attempts = 4

async function run(
  attempt: number,
  {seed, seconds}: CampaignOptions,
  bug: MutationName | 'none',
  {of, focus, durations}: MutationCampaign,
): Promise<Report> {
  const ofServers = of === 'control planes'
  const command = (isBuggy: boolean, ...args: string[]) => (isBuggy ? [program, bug, ...args] : [svcBinary, ...args])
  return prove({
    seed: seed + attempt - 1,
    minutes: (seconds * 2 ** (attempt - 1)) / 60,
    launch: command(ofServers, 'mesh', 'serve'),
    delegation: {
      orchestrator: command(!ofServers, 'daemon', 'run', '--listen', '127.0.0.1:0'),
      worker: [svcBinary, 'mesh', 'join', '--work'],
      ...(durations === undefined ? {} : {durations}),
      ...(bug === 'none' ? {} : {settleMs: 5000}),
    },
    ...(ofServers ? {database: {url: await createDatabase()}} : {}),
    focus,
  })
}

const violationsOf = ({invariants}: Report) =>
  invariants.flatMap(({id, violations}) => violations.map(({what}) => `${id}: ${what}`))

/** Declares the tests of one bug. */
export function testMutation(campaign: MutationCampaign, options: CampaignOptions): void {
  const {bug, of, caught} = campaign
  describe(`${of}: ${bug.replaceAll('-', ' ')}`, {skip: of === 'control planes' && skipWithoutPostgres}, () => {
    it(`is detected by ${caught}`, async () => {
      const seen: string[] = []
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const report = await run(attempt, options, bug, campaign)
        seen.push(...violationsOf(report))
        if (report.folder !== null) await rm(report.folder, {recursive: true, force: true})
        if (report.invariants.some(({id, held}) => id === caught && !held)) return
      }
      assert.fail(`no violation of ${caught} in ${JSON.stringify(seen)}`)
    })

    it('is not reported without the bug', async () => {
      const report = await run(1, options, 'none', campaign)
      assert.deepEqual(violationsOf(report), [])
      const verdict = report.invariants.find(({id}) => id === caught)
      assert.ok((verdict?.checked ?? 0) > 0)
    })
  })
}
