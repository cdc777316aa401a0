import assert from 'node:assert/strict'
import {getEventListeners} from 'node:events'
import {describe, it} from 'node:test'
import {EventQueue} from '../../src/llm/event-queue.js'

async function read<T>(queue: EventQueue<T>, count: number): Promise<T[]> {
  const values: T[] = []
  for await (const value of queue) {
    values.push(value)
    if (values.length === count) break
  }
  return values
}

const unaborted = () => new AbortController().signal

describe('EventQueue', () => {
  it('returns values pushed before iteration, in order', async () => {
    const queue = new EventQueue<number>(unaborted())
    for (const value of [1, 2, 3]) queue.push(value)
    assert.deepEqual(await read(queue, 3), [1, 2, 3])
  })

  it('waits for values pushed later, one by one or several at once', async () => {
    const queue = new EventQueue<number>(unaborted())
    const reading = read(queue, 5)
    for (const values of [[1], [2, 3, 4], [5]]) {
      await new Promise(setImmediate)
      for (const value of values) queue.push(value)
    }
    assert.deepEqual(await reading, [1, 2, 3, 4, 5])
  })

  it('accepts falsy values', async () => {
    const queue = new EventQueue<unknown>(unaborted())
    for (const value of [0, '', false, null]) queue.push(value)
    assert.deepEqual(await read(queue, 4), [0, '', false, null])
  })
})

describe('EventQueue after a failure', () => {
  it('returns the values pushed before, then throws', async () => {
    const queue = new EventQueue<number>(unaborted())
    queue.push(1)
    queue.push(2)
    queue.fail(new Error('broken'))
    const seen: number[] = []
    await assert.rejects(async () => {
      for await (const value of queue) seen.push(value)
    }, /broken/)
    assert.deepEqual(seen, [1, 2])
  })

  it('wakes a waiting reader', async () => {
    const queue = new EventQueue<number>(unaborted())
    const reading = read(queue, 1)
    await new Promise(setImmediate)
    queue.fail(new Error('broken'))
    await assert.rejects(reading, /broken/)
  })

  it('throws the first failure', async () => {
    const queue = new EventQueue<number>(unaborted())
    queue.fail(new Error('first'))
    queue.fail(new Error('second'))
    await assert.rejects(read(queue, 1), /first/)
  })

  it('throws even if the failure is undefined', async () => {
    const queue = new EventQueue<number>(unaborted())
    queue.fail(undefined)
    await assert.rejects(read(queue, 1), (thrown) => thrown === undefined)
  })
})

describe('EventQueue after an abort', () => {
  it('throws the reason to a waiting reader', async () => {
    const abort = new AbortController()
    const queue = new EventQueue<number>(abort.signal)
    const reading = read(queue, 1)
    await new Promise(setImmediate)
    const reason = new Error('enough')
    abort.abort(reason)
    await assert.rejects(reading, reason)
  })

  it('throws the reason immediately and drops pushed values', async () => {
    const abort = new AbortController()
    const queue = new EventQueue<number>(abort.signal)
    queue.push(1)
    queue.push(2)
    const seen: number[] = []
    await assert.rejects(async () => {
      for await (const value of queue) {
        seen.push(value)
        abort.abort(new Error('enough'))
      }
    }, /enough/)
    assert.deepEqual(seen, [1])
  })

  it('throws if the signal was aborted before the queue was created', async () => {
    await assert.rejects(read(new EventQueue<number>(AbortSignal.abort(new Error('before'))), 1), /before/)
  })

  it('removes its listener from the signal when it is read completely, left early or fails', async () => {
    const {signal} = new AbortController()
    const left = new EventQueue<number>(signal)
    left.push(1)
    await read(left, 1)
    const failed = new EventQueue<number>(signal)
    failed.fail(new Error('broken'))
    await assert.rejects(read(failed, 1))
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})
