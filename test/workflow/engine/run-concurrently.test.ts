import assert from 'node:assert/strict'
import {once} from 'node:events'
import {describe, it} from 'node:test'
import {Suspension} from '../../../src/workflow/engine/control-errors.js'
import {runConcurrently} from '../../../src/workflow/engine/run-concurrently.js'

const base = {limit: 10, signal: new AbortController().signal, visitsAll: false}

/** A job that ends only when its signal aborts, with the reason. */
const untilAborted = async (signal: AbortSignal): Promise<never> => {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}

const fail = (error: Error) => async (): Promise<never> => {
  throw error
}

describe('jobs that run together', () => {
  it('give their results in their order, whichever ends first', async () => {
    let release = () => {}
    const last = new Promise<void>((resolve) => {
      release = resolve
    })
    const jobs = [
      () => last.then(() => 'slow'),
      async () => {
        release()
        return 'fast'
      },
    ]
    assert.deepEqual(await runConcurrently(jobs, base), ['slow', 'fast'])
    assert.deepEqual(await runConcurrently([], base), [])
  })

  it('are at most as many as the limit at the same time', async () => {
    let running = 0
    let most = 0
    const job = async () => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
    }
    await runConcurrently(Array(7).fill(job), {...base, limit: 3})
    assert.equal(most, 3)
  })

  it('abort the others when one fails, start no more, and fail with the first error', async () => {
    const first = new Error('first')
    let started = 0
    const count = async () => {
      started++
    }
    const jobs = [untilAborted, fail(first), count]
    await assert.rejects(runConcurrently(jobs, {...base, limit: 2}), first)
    assert.equal(started, 0)
  })

  it('are all visited if only results are collected', async () => {
    const first = new Error('first')
    const visited: number[] = []
    const jobs = [fail(first), async (signal: AbortSignal) => visited.push(Number(signal.aborted))]
    await assert.rejects(runConcurrently(jobs, {...base, limit: 1, visitsAll: true}), first)
    assert.deepEqual(visited, [0])
  })

  it('are suspended only if none has failed, and do not abort each other for it', async () => {
    const suspend = fail(new Suspension('The run waits.'))
    const failure = new Error('failed')
    await assert.rejects(runConcurrently([suspend, async () => 1], base), Suspension)
    await assert.rejects(runConcurrently([suspend, fail(failure)], base), failure)
  })

  it('end with the reason of the signal, also if it has aborted before', async () => {
    const abort = new AbortController()
    const ends = runConcurrently([untilAborted, untilAborted], {...base, signal: abort.signal})
    const reason = new Error('stop')
    abort.abort(reason)
    await assert.rejects(ends, reason)
    await assert.rejects(runConcurrently([untilAborted], {...base, signal: abort.signal}), reason)
  })
})
