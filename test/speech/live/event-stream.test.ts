import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {EventStream} from '../../../src/speech/live/event-stream.js'

describe('a stream of events', () => {
  it('has each event once, in order, before and after it is read, and ends', async () => {
    const stream = new EventStream<{n: number}>()
    stream.push({n: 1})
    const seen: number[] = []
    const reading = (async () => {
      for await (const {n} of stream) seen.push(n)
    })()
    stream.push({n: 2})
    await stream.handled()
    assert.deepEqual(seen, [1, 2])
    stream.push({n: 3})
    stream.end()
    stream.push({n: 4})
    await reading
    assert.deepEqual(seen, [1, 2, 3])
  })

  it('waits until the reader has handled an event', async () => {
    const stream = new EventStream<object>()
    const done: string[] = []
    let release: () => void = () => assert.fail('no event was read')
    const reading = (async () => {
      for await (const _ of stream) {
        await new Promise<void>((resolve) => {
          release = resolve
        })
        done.push('event')
      }
    })()
    stream.push({})
    const handled = stream.handled().then(() => done.push('handled'))
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(done, [])
    release()
    await handled
    assert.deepEqual(done, ['event', 'handled'])
    stream.end()
    await reading
  })

  it('waits for no reader that has left', async () => {
    const stream = new EventStream<object>()
    stream.push({})
    stream.push({})
    for await (const _ of stream) break
    await stream.handled()
    stream.push({})
    await stream.handled()
  })
})
