import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {ConnectionState} from '../../src/daemon/connection-state.js'

type Event = Parameters<ConnectionState['on']>[0]

function after(...events: Event[]) {
  const state = new ConnectionState('done')
  for (const event of events) state.on(event)
  return state
}

/** Permissions of a connection after some events: accept lines, read more, wait for events, process the next request. */
const permissions = ({acceptsLines, isOpen, waitsForEvents, isReady}: ConnectionState) => ({
  acceptsLines,
  isOpen,
  waitsForEvents,
  isReady,
})

describe('ConnectionState', () => {
  const open = {acceptsLines: true, isOpen: true, waitsForEvents: false, isReady: true}
  const ended = {acceptsLines: true, isOpen: false, waitsForEvents: true, isReady: true}
  const finishing = {acceptsLines: true, isOpen: false, waitsForEvents: false, isReady: true}
  const dismissed = {acceptsLines: false, isOpen: false, waitsForEvents: false, isReady: true}
  const closed = {acceptsLines: false, isOpen: false, waitsForEvents: false, isReady: false}
  const cases: readonly [Event[], typeof open][] = [
    [[], open],
    [['inputEnded'], ended],
    [['finishRequested'], finishing],
    [['inputEnded', 'finishRequested'], finishing],
    [['finishRequested', 'inputEnded'], finishing],
    [['dismissed'], dismissed],
    [['dismissed', 'inputEnded'], dismissed],
    [['dismissed', 'finishRequested'], dismissed],
    [['finishRequested', 'dismissed'], dismissed],
    [['closed'], closed],
    [['inputEnded', 'closed'], closed],
    [['closed', 'inputEnded'], closed],
    [['closed', 'dismissed'], closed],
    [['requestStarted'], {...open, isReady: false}],
    [['requestStarted', 'inputEnded'], {...ended, isReady: false}],
    [['requestStarted', 'requestSettled'], open],
    [['requestStarted', 'closed', 'requestSettled'], closed],
  ]
  for (const [events, expected] of cases)
    it(`after ${events.join(', ') || 'nothing'}`, () => assert.deepEqual(permissions(after(...events)), expected))

  it('stays authenticated after all other events', () => {
    const state = new ConnectionState('required')
    assert.equal(state.isAuthenticated, false)
    for (const event of ['authenticated', 'inputEnded', 'dismissed', 'closed'] as const) {
      state.on(event)
      assert.equal(state.isAuthenticated, true, event)
    }
  })
})
