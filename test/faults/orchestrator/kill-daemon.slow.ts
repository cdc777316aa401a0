import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {campaignSeed} from '../../support/campaign-seed.js'
import {killDaemon} from './kill-daemon.js'
import {faultsOf} from './oracles.js'
import {temporaryWorkspace} from './process.js'

const seed = campaignSeed(import.meta.url)

describe('a daemon that is killed repeatedly', () => {
  it('loses no task and completes none twice, while the store is pruned', async (test) => {
    const root = await temporaryWorkspace(test)
    const kills: string[] = []
    const evidence = await killDaemon({
      kills: 10,
      seed,
      tasks: 260,
      prunes: 30,
      root,
      onKill: ({number, when, afterMs}) => kills.push(`${number}: ${when} ${afterMs} ms`),
    })
    assert.deepEqual(faultsOf(evidence), [], `seed ${seed}, kills ${kills.join(', ')}`)
    assert.ok(evidence.tasks.length >= 500, `${evidence.tasks.length} tasks`)
    assert.ok(evidence.events.some(({type}) => type === 'task_requeued'))
  })
})
