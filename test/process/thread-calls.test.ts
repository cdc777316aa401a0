import assert from 'node:assert/strict'
import {after, describe, it} from 'node:test'
import {isErrorOf, SvcError} from '../../src/errors/index.js'
import {type Failure, startThread, ThreadCalls} from '../../src/process/index.js'

const failure: Failure = (reason) => new SvcError('internal', {reason})

/** Answers `{double: n}`, an error below 0, in the reverse order after `flush`; exits after `exit`; keeps cancelled ids. */
const program = `import {parentPort} from 'node:worker_threads'
const waiting = [], cancelled = []
parentPort.on('message', ({id, n, cancel, ask}) => {
  if (cancel !== undefined) cancelled.push(cancel)
  else if (ask === 'exit') process.exit()
  else if (ask === 'cancelled') parentPort.postMessage({id, cancelled})
  else if (ask === 'flush') for (const answer of [{id, double: 0}, ...waiting.splice(0)].reverse()) parentPort.postMessage(answer)
  else waiting.push(n < 0 ? {id, error: {code: 'usage', message: 'Too small.', params: {reason: 'Too small.'}}} : {id, double: 2 * n})
})
parentPort.postMessage({type: 'ready'})`

interface Question {
  n?: number
  ask?: 'exit' | 'flush' | 'cancelled'
}

describe('calls to a thread', async () => {
  const {worker} = await startThread(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
    data: undefined,
    failure,
  })
  const calls = new ThreadCalls<Question, {double?: number; cancelled?: number[]}>(worker, 'the thread', failure)
  after(() => worker.terminate())

  it('have their own answers, in any order', async () => {
    const answers = [1, 2, -1].map((n) => calls.ask({n}))
    assert.equal(calls.count, 3)
    const refused = assert.rejects(answers[2] as Promise<unknown>, {code: 'usage'})
    await calls.ask({ask: 'flush'})
    assert.deepEqual(
      await Promise.all(answers.slice(0, 2)),
      [1, 2].map((n, i) => ({id: i + 1, double: 2 * n})),
    )
    await refused
    assert.equal(calls.count, 0)
  })

  it('end with the reason of their signal, and the thread is asked to cancel', async () => {
    const abort = new AbortController()
    const cancel = (id: number) => worker.postMessage({cancel: id})
    const answer = calls.ask({n: 1}, {signal: abort.signal, cancel})
    abort.abort(new Error('over'))
    await assert.rejects(answer, /over/)
    await assert.rejects(calls.ask({n: 1}, {signal: abort.signal, cancel}), /over/)
    assert.deepEqual((await calls.ask({ask: 'cancelled'})).cancelled, [5])
  })

  it('end when the thread stops', async () => {
    const answer = calls.ask({n: 1})
    await assert.rejects(
      calls.ask({ask: 'exit'}),
      (error) => isErrorOf(error, 'internal') && /the thread stopped/.test(error.message),
    )
    await assert.rejects(answer, /the thread stopped/)
    await assert.rejects(calls.ask({n: 1}), /the thread stopped/)
  })
})
