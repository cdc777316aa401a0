import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {describe, it} from 'node:test'
import {promisify} from 'node:util'
import {campaignSeed} from '../../support/campaign-seed.js'
import {projectFile} from '../../support/project.js'
import {invalidReceipts} from './gate-invariants.js'
import {gatedWorkspace} from './gated-workspace.js'
import {type WalkReport, walkSettings} from './walk-gates.js'

const execute = promisify(execFile)
const program = projectFile('dist/test/tasks/completion/walk-gates-process.js')
const steps = 500
const firstSeed = campaignSeed(import.meta.url)

async function walkInProcess(root: string, name: string, seed: number): Promise<WalkReport> {
  const args = [program, root, name, String(seed), String(steps)]
  const {stdout} = await execute(process.execPath, args, {maxBuffer: 2 ** 24, timeout: 600_000})
  return JSON.parse(stdout) as WalkReport
}

describe('random actions of two processes in a workspace with gates', () => {
  for (let walk = 0; walk < 6; walk++)
    it(`lose no task, count every refusal and leave only valid receipts, walk ${walk + 1} of 6`, async (t) => {
      const seed = firstSeed + walk
      const {orchestrator, root} = await gatedWorkspace(t, {toml: walkSettings})
      const reports = await Promise.all([walkInProcess(root, 'east', seed), walkInProcess(root, 'west', seed + 1000)])
      assert.deepEqual(
        reports.flatMap(({faults}) => faults),
        [],
      )
      assert.deepEqual(await invalidReceipts(orchestrator), [])
    })
})
