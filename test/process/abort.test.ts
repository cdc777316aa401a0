import assert from 'node:assert/strict'
import {getEventListeners} from 'node:events'
import {describe, it} from 'node:test'
import {aborted, forwardAbort, onAbort, orAborted} from '../../src/process/index.js'

const over = new Error('over')

describe('onAbort', () => {
  for (const [when, abortFirst] of [
    ['aborts', false],
    ['has aborted', true],
  ] as const)
    it(`calls the listener once when the signal ${when}, after it has returned`, async () => {
      const abort = new AbortController()
      const reasons: unknown[] = []
      if (abortFirst) abort.abort(over)
      const stop = onAbort(abort.signal, (reason) => {
        stop()
        reasons.push(reason)
      })
      assert.deepEqual(reasons, [])
      abort.abort(over)
      await Promise.resolve()
      assert.deepEqual(reasons, [over])
    })

  it('does not call a listener that has stopped before', async () => {
    const stop = onAbort(AbortSignal.abort(over), () => assert.fail('called'))
    stop()
    await Promise.resolve()
  })

  it('leaves no listener', () => {
    const {signal} = new AbortController()
    onAbort(signal, () => assert.fail('called'))()
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})

describe('forwardAbort', () => {
  for (const abortFirst of [false, true])
    it(`aborts the controller ${abortFirst ? 'at once if the signal has aborted' : 'with the signal'}`, () => {
      const abort = new AbortController()
      const controller = new AbortController()
      if (abortFirst) abort.abort(over)
      const stop = forwardAbort(abort.signal, controller)
      assert.equal(controller.signal.aborted, abortFirst)
      abort.abort(over)
      stop()
      assert.equal(controller.signal.reason, over)
      assert.equal(getEventListeners(abort.signal, 'abort').length, 0)
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
