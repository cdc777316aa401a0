import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type InboxPages, inboxPages} from '../../../src/mesh/index.js'
import {reply, scriptedControlPlane} from './support/scripted-control-plane.js'

interface Query {
  receiver_agent_id: string
  max_messages: number
  before_message_id?: number
  message_types?: string[]
}

type Test = {after(work: () => unknown): void}

/** Pages through an inbox with messages 1 to `count`. Returns the ids of each page and the requests. */
async function pagesOf(t: Test, count: number, options: Partial<InboxPages> = {}) {
  const plane = await scriptedControlPlane(t, (response, {body}) => {
    const {max_messages: limit, before_message_id: before = Number.POSITIVE_INFINITY} = body as Query
    const ids = Array.from({length: count}, (_, i) => count - i).filter((id) => id < before)
    reply(response, 200, {messages: ids.slice(0, limit).map((id) => ({id, payload: ''}))})
  })
  const pages: number[][] = []
  for await (const page of inboxPages(plane.connect(), {receiver: '7', ...options})) pages.push(page.map(({id}) => id))
  return {pages, queries: plane.asked.map(({body}) => body as Query)}
}

describe('inboxPages', () => {
  it('yields pages, newest first, until one is empty', async (t) => {
    const {pages, queries} = await pagesOf(t, 7, {pageSize: 3, types: ['remote_task_result']})
    assert.deepEqual(pages, [[7, 6, 5], [4, 3, 2], [1]])
    assert.deepEqual(
      queries.map(({before_message_id}) => before_message_id),
      [undefined, 5, 2, 1],
    )
    assert.deepEqual(queries[0], {receiver_agent_id: '7', max_messages: 3, message_types: ['remote_task_result']})
  })

  it('yields nothing for an empty inbox', async (t) => {
    const {pages, queries} = await pagesOf(t, 0)
    assert.deepEqual([pages, queries.length, queries[0]?.max_messages], [[], 1, 64])
  })

  it('yields up to 32 pages by default', async (t) => {
    assert.equal((await pagesOf(t, 50, {pageSize: 1})).pages.length, 32)
    assert.equal((await pagesOf(t, 50, {pageSize: 1, maxPages: 2})).queries.length, 2)
  })

  for (const [pageSize, asked] of [
    [0, 1],
    [-3, 1],
    [2.9, 2],
    [256, 256],
    [1000, 256],
  ] as const)
    it(`uses the page size ${asked} for ${pageSize}`, async (t) => {
      assert.equal((await pagesOf(t, 1, {pageSize})).queries[0]?.max_messages, asked)
    })

  it('ends if the control plane does not support paging', async (t) => {
    const plane = await scriptedControlPlane(t, (response) =>
      reply(response, 200, {
        messages: [
          {id: 2, payload: ''},
          {id: 1, payload: ''},
        ],
      }),
    )
    let pages = 0
    for await (const page of inboxPages(plane.connect(), {receiver: '7'})) pages += page.length > 0 ? 1 : 0
    assert.ok(pages <= 2)
    assert.equal(plane.asked.length, 2)
  })

  it('stops when the consumer stops', async (t) => {
    const plane = await scriptedControlPlane(t, (response) => reply(response, 200, {messages: [{id: 2, payload: ''}]}))
    for await (const _ of inboxPages(plane.connect(), {receiver: '7'})) break
    assert.equal(plane.asked.length, 1)
  })
})
