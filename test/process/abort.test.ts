import assert from 'node:assert/strict'
import {getEventListeners} from 'node:events'
import {describe, it} from 'node:test'
import {aborted, onAbort, orAborted} from '../../src/process/index.js'

const over = new Error('over')

describe('onAbort', () => {
  for (const [when, abortFirst] of [
    ['aborts', false],
    ['has aborted', true],
  ] as const)
    it(`calls the listener once when the signal ${when}`, () => {
      const abort = new AbortController()
      const reasons: unknown[] = []
      if (abortFirst) abort.abort(over)
      const stop = onAbort(abort.signal, (reason) => reasons.push(reason))
      abort.abort(over)
      stop()
      assert.deepEqual(reasons, [over])
    })

  it('leaves no listener', () => {
    const {signal} = new AbortController()
    onAbort(signal, () => assert.fail('called'))()
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})

describe('orAborted', () => {
  it('has the value, or its error, and leaves no listener', async () => {
    const {signal} = new AbortController()
    assert.equal(await orAborted(Promise.resolve(7), signal), 7)
    assert.equal(await orAborted(Promise.resolve(7), undefined), 7)
    await assert.rejects(orAborted(Promise.reject(over), signal), over)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  it('throws the reason of a signal that aborts, or has aborted, instead of waiting', async () => {
    const abort = new AbortController()
    const never = new Promise(() => {})
    const waiting = orAborted(never, abort.signal)
    abort.abort(over)
    await assert.rejects(waiting, over)
    await assert.rejects(orAborted(never, abort.signal), over)
    await assert.rejects(orAborted(Promise.resolve(7), abort.signal), over)
    await aborted(abort.signal)
  })
})
