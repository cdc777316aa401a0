import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {failure, linesWithoutText} from './ai-run.js'

describe('a server that never stops sending lines without text', () => {
  it('is disconnected after 256 MB', async (test) => {
    const {error} = await failure(test, linesWithoutText)
    assert.equal(error.code, 'inference_protocol')
    assert.match(error.message, /sends more than 268435456 bytes\.$/)
  })
})
