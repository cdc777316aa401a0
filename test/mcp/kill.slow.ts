import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {killServers} from './killed-server.js'

describe('tasks of 30 servers that are killed', () => {
  it('are all found by the next servers, and all calls end', async (t) => {
    const {lost, transcribed} = await killServers(t, 30)
    assert.deepEqual([lost, transcribed.length, transcribed.every(Boolean)], [0, 15, true])
  })
})
