import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {killServers} from './killed-server.js'

describe('a task whose server is killed', () => {
  it('is found by the next servers, and a call ends there', async (t) => {
    assert.deepEqual(await killServers(t, 3), {lost: 0, transcribed: [true]})
  })
})
