import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {randomSource} from '../../../src/sampling/index.js'
import {campaignSeed} from '../../support/campaign-seed.js'
import {gateFaults} from '../../tasks/completion/gate-invariants.js'
import {dieAt, faultsAtEnd, gatedTasks, moments, untilAllEnded} from './gated-daemon.js'
import {startDaemon} from './process.js'

const firstSeed = campaignSeed(import.meta.url)

describe('daemons killed while they complete tasks', () => {
  for (const moment of Object.keys(moments) as (keyof typeof moments)[])
    it(`${moment}, repeatedly, end every task exactly once`, async (test) => {
      const {root, orchestrator} = await gatedTasks(test, 9)
      for (let kill = 1; kill <= 4; kill++) {
        await dieAt(root, moment)
        assert.deepEqual(gateFaults(orchestrator), [], `kill ${kill}`)
      }
      startDaemon(root)
      await untilAllEnded(root)
      assert.deepEqual(await faultsAtEnd(root, orchestrator), [])
    })

  for (const run of [0, 1])
    it(`at random times end every task exactly once, run ${run + 1} of 2`, async (test) => {
      const seed = firstSeed + run
      const random = randomSource(seed)
      const {root, orchestrator} = await gatedTasks(test, 60)
      const delays: number[] = []
      for (let kill = 1; kill <= 12; kill++) {
        const daemon = startDaemon(root)
        assert.equal(await daemon.ready, true, daemon.stderr())
        const delayMs = Math.floor(random() * 1500)
        delays.push(delayMs)
        await sleep(delayMs)
        daemon.kill('SIGKILL')
        await daemon.exited
        assert.deepEqual(gateFaults(orchestrator), [], `seed ${seed}, delays ${delays} ms`)
      }
      startDaemon(root)
      await untilAllEnded(root)
      assert.deepEqual(await faultsAtEnd(root, orchestrator), [], `seed ${seed}, delays ${delays} ms`)
    })
})
