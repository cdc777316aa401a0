import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {ModelHost} from '../../src/serve/model-host.js'
import {temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

const dayMs = 86_400_000

describe('a served model', () => {
  it('stays in memory for as long as a request wants, also beyond what a timer can wait', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(folder)
    const options = {name: 'tiny', keepAlive: 'forever', threads: 1, numCtx: 0, slots: 1, queueLimit: 1} as const
    const host = await ModelHost.start(folder, options, new AbortController().signal)
    test.after(() => host.close())
    const expiresAt = () => host.loaded?.expiresAt
    assert.equal(expiresAt(), 'forever')
    await host.load(30 * dayMs)
    await sleep(20)
    assert.ok(Number(expiresAt()) > Date.now() + 29 * dayMs)
    await host.load(1)
    for (let i = 0; i < 100 && expiresAt() !== undefined; i++) await sleep(10)
    assert.equal(expiresAt(), undefined)
  })
})
