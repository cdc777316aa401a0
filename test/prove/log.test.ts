import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {openLog, readLog} from '../../src/prove/history/log.js'
import {temporaryFolder} from '../support/temporary.js'
import {call} from './history.js'

describe('run log', () => {
  it('joins calls with proxy entries and sorts them by time of sending', async (test) => {
    const path = join(await temporaryFolder(test), 'calls.jsonl')
    const log = openLog(path)
    const {copies: _, ...later} = call('a2a_ack', {id: 2, sent: 20, status: 204})
    const {copies, ...earlier} = call('join', {id: 1, sent: 10, status: 200, body: {id: 'node-1'}})
    log.call(later)
    log.passed({id: 1, fault: 'duplicate', copies})
    log.event({event: 'kill', at: 5, until: 8})
    log.call(earlier)
    await log.close()

    const {calls, events} = await readLog(path)
    assert.deepEqual(calls, [
      {...earlier, fault: 'duplicate', copies},
      {...later, copies: []},
    ])
    assert.deepEqual(events, [{event: 'kill', at: 5, until: 8}])
  })
})
