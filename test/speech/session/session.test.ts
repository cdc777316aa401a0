import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../../src/errors/index.js'
import {type SessionState, SpeechSession, sessionLimits} from '../../../src/speech/session/session.js'

describe('sessionLimits', () => {
  const defaults = {captureTimeoutMs: 12_000, maxDurationMs: 120_000, inferenceDeadlineMs: 0}

  it('takes requested values before the defaults, and the maximum duration as deadline', () => {
    assert.deepEqual(sessionLimits({captureTimeoutMs: 500}, defaults), {
      captureTimeoutMs: 500,
      maxDurationMs: 120_000,
      inferenceDeadlineMs: 120_000,
    })
    assert.equal(sessionLimits({inferenceDeadlineMs: 700}, defaults).inferenceDeadlineMs, 700)
  })

  it('counts 0 as omitted', () => {
    assert.equal(sessionLimits({maxDurationMs: 0}, defaults).maxDurationMs, 120_000)
  })

  it('limits nothing without values and defaults', () => {
    assert.deepEqual(Object.values(sessionLimits({}, {})), [undefined, undefined, undefined])
  })

  it('refuses a timeout that is longer than the maximum duration', () => {
    assert.throws(
      () => sessionLimits({captureTimeoutMs: 200, maxDurationMs: 100}, {}),
      (error) =>
        isErrorOf(error, 'usage') && error.message.includes('timeout_ms (200) must not exceed max_duration_ms (100)'),
    )
  })
})

/** A session whose clock advances by hand. */
function sessionAt(limits: ConstructorParameters<typeof SpeechSession>[0]) {
  const clock = {ms: 0}
  const states: SessionState[] = []
  const session = new SpeechSession(limits, {now: () => clock.ms, onState: (state) => states.push(state)})
  return {clock, session, states}
}

describe('SpeechSession', () => {
  it('goes from idle through capturing and finalizing to completed', async () => {
    const {session, states} = sessionAt({})
    assert.equal(session.state, 'idle')
    session.capture()
    session.capture()
    await session.finalize(async () => 'text')
    assert.deepEqual(states, ['capturing', 'finalizing', 'completed'])
  })

  it('reports the time of each limit', async () => {
    const {clock, session} = sessionAt({inferenceDeadlineMs: 1000, maxDurationMs: 2000})
    clock.ms = 500
    const {value, diagnostics} = await session.finalize(async (_, loaded) => {
      clock.ms = 700
      loaded()
      clock.ms = 1600
      return 'text'
    })
    assert.equal(value, 'text')
    assert.deepEqual(diagnostics, [
      {phase: 'transcribe', elapsed_ms: 900, limit_ms: 1000, taxonomy: 'ok'},
      {phase: 'session_total', elapsed_ms: 1600, limit_ms: 2000, taxonomy: 'ok'},
    ])
  })

  it('fails if recognition took longer than its deadline, without the time to load the model', async () => {
    const {clock, session} = sessionAt({inferenceDeadlineMs: 100})
    const late = session.finalize(async (_, loaded) => {
      clock.ms = 5000
      loaded()
      clock.ms = 5101
      return 'text'
    })
    await assert.rejects(late, (error) => {
      assert.ok(isErrorOf(error, 'speech_inference_timeout'))
      assert.deepEqual(error.params, {
        transcribe_ms: 101,
        inference_deadline_ms: 100,
        state: 'failed',
        deadline_diagnostics: [{phase: 'transcribe', elapsed_ms: 101, limit_ms: 100, taxonomy: 'inference_timeout'}],
      })
      return true
    })
    assert.equal(session.state, 'failed')
  })

  it('fails if the session took longer than its maximum duration', async () => {
    const {clock, session} = sessionAt({inferenceDeadlineMs: 1000, maxDurationMs: 1000})
    clock.ms = 900
    const late = session.finalize(async (_, loaded) => {
      loaded()
      clock.ms = 1001
    })
    await assert.rejects(late, (error) => {
      assert.ok(isErrorOf(error, 'speech_deadline_exceeded'))
      assert.equal(error.params.wall_ms, 1001)
      return true
    })
  })

  it('aborts a decoding that runs away after its limit', async () => {
    const session = new SpeechSession({inferenceDeadlineMs: 1})
    const runaway = session.finalize((signal, loaded) => {
      loaded()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await assert.rejects(runaway, (error) => isErrorOf(error, 'speech_inference_timeout'))
  })

  it('passes an interruption on', async () => {
    const outer = new AbortController()
    const session = new SpeechSession({inferenceDeadlineMs: 10_000})
    const aborted = session.finalize((signal) => {
      outer.abort(new Error('interrupted'))
      return Promise.reject(signal.reason)
    }, outer.signal)
    await assert.rejects(aborted, /interrupted/)
    assert.equal(session.state, 'failed')
  })
})
