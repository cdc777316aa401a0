import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {setImmediate as nextTurn, setTimeout as sleep} from 'node:timers/promises'
import {StateFeed} from '../../../src/mesh/dashboard/feed.js'
import type {Reading} from '../../../src/mesh/dashboard/read-state.js'
import type {DashboardState} from '../../../src/mesh/dashboard/view.js'
import type {ReplyStream} from '../../../src/net/index.js'
import {until} from '../../support/until.js'

/** A page that reads its stream on request. */
function slowPage() {
  const written: string[] = []
  const gone = new AbortController()
  let take: () => void = () => undefined
  const stream: ReplyStream = {
    gone: gone.signal,
    write: (frame) => {
      written.push(String(frame))
      return new Promise((resolve) => {
        take = resolve
      })
    },
    ping: () => undefined,
    end: () => gone.abort(),
  }
  return {stream, written, takeIn: () => take(), leave: () => gone.abort()}
}

/** A feed whose state differs at every poll. */
function countingFeed(test: TestContext) {
  let count = 0
  const feed = new StateFeed(
    async () => ({state: {control: {url: `state ${++count}`, answers: true}}, aheadMs: 0}),
    () => 0,
  )
  test.after(() => feed.close())
  const readings = async (wanted: number) => {
    while (count < wanted) {
      feed.soon()
      await sleep(2)
    }
    await sleep(2)
  }
  return {feed, readings}
}

/** A feed with manual polls and a manual clock. */
function heldFeed(test: TestContext) {
  test.mock.timers.enable({apis: ['setTimeout', 'setInterval']})
  const waiting: ((reading: Reading) => void)[] = []
  const feed = new StateFeed(
    () => new Promise((resolve) => waiting.push(resolve)),
    () => 0,
  )
  test.after(() => feed.close())
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await nextTurn()
  }
  const answer = async (nodes: number) => {
    const known = Array.from({length: nodes}, (_, i) => ({id: String(i)}))
    const state = {control: {url: '', answers: true}, nodes: {known}} as unknown as DashboardState
    waiting.at(-1)?.({state, aheadMs: 0})
    await settle()
  }
  const pass = async (ms: number) => {
    test.mock.timers.tick(ms)
    await settle()
  }
  return {feed, answer, pass, asked: () => waiting.length}
}

const numberOf = (frame: string | undefined) => Number(/state (\d+)/.exec(frame ?? '')?.[1])

describe('StateFeed', () => {
  it('buffers one state for a slow page, then sends the newest', async (t) => {
    const {feed, readings} = countingFeed(t)
    const slow = slowPage()
    feed.subscribe(slow.stream)
    await readings(50)
    assert.equal(slow.written.length, 1)
    slow.takeIn()
    await until(() => slow.written.length > 1, 'what it has missed')
    assert.equal(slow.written.length, 2)
    assert.ok(numberOf(slow.written[1]) >= 50, slow.written[1])
  })

  it('sends the known state to a new page immediately', async (t) => {
    const {feed, readings} = countingFeed(t)
    feed.subscribe(slowPage().stream)
    await readings(3)
    const late = slowPage()
    feed.subscribe(late.stream)
    assert.ok(numberOf(late.written[0]) >= 3)
  })

  it('does not send an outdated state after a pause', async (t) => {
    const {feed, readings} = countingFeed(t)
    const first = slowPage()
    feed.subscribe(first.stream)
    await readings(3)
    first.leave()
    feed.soon()
    await sleep(5)
    const before = numberOf(first.written.at(-1))
    const next = slowPage()
    feed.subscribe(next.stream)
    assert.equal(next.written.length, 0)
    await until(() => next.written.length > 0, 'a new state')
    assert.ok(numberOf(next.written[0]) > before)
  })

  it('accepts up to 32 pages', (t) => {
    const {feed} = countingFeed(t)
    const pages = Array.from({length: 32}, slowPage)
    for (const {stream} of pages) {
      assert.equal(feed.isFull, false)
      feed.subscribe(stream)
    }
    assert.equal(feed.isFull, true)
    pages[7]?.leave()
    assert.equal(feed.isFull, false)
  })
  it('polls once more if a change was made during a poll', async (t) => {
    const {feed, answer, asked} = heldFeed(t)
    feed.subscribe(slowPage().stream)
    feed.soon()
    feed.soon()
    assert.equal(asked(), 1)
    await answer(1)
    assert.equal(asked(), 2)
    await answer(1)
    assert.equal(asked(), 2)
    feed.soon()
    await answer(1)
    assert.equal(asked(), 3)
  })

  it('polls once per second, plus one second per thousand nodes', async (t) => {
    for (const [nodes, seconds] of [
      [1, 1],
      [1000, 1],
      [1001, 2],
      [10_000, 10],
    ] as const) {
      const {feed, answer, pass, asked} = heldFeed(t)
      feed.subscribe(slowPage().stream)
      await answer(nodes)
      await pass(seconds * 1000 - 1)
      assert.equal(asked(), 1)
      await pass(1)
      assert.equal(asked(), 2)
      feed.close()
      t.mock.timers.reset()
    }
  })
})
