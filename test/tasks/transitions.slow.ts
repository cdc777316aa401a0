import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {invariants, walkWorkspace} from '../orchestrator/support/workspace-walk.js'
import {campaignSeed} from '../support/campaign-seed.js'

const seed = campaignSeed(import.meta.url)

describe('a workspace under random concurrent operations', () => {
  let walks: Promise<Awaited<ReturnType<typeof walkWorkspace>>[]> | undefined
  const walk = (t: TestContext) => {
    walks ??= Promise.all([0, 1, 2, 3].map((i) => walkWorkspace(t, seed + i, 3000)))
    return walks
  }

  it('goes through all possible transitions', async (t) => {
    // A single walk may miss rare transitions.
    const total = new Map<string, number>()
    for (const {done} of await walk(t))
      for (const [name, times] of done) total.set(name, (total.get(name) ?? 0) + times)
    assert.equal(total.size, 24, [...total.keys()].join())
    for (const [name, times] of total) assert.ok(times >= 3, `${name}: ${times}`)
  })

  for (const {name} of invariants)
    it(name, async (t) => {
      for (const {faults} of await walk(t)) assert.equal(faults.get(name), undefined)
    })
})
