import assert from 'node:assert/strict'
import {it} from 'node:test'
import type {NodeQuery, Scope} from '../../../../src/mesh/store/mesh-store.js'
import {begin, minute, type OpenStore, type Story} from './story.js'

/** Reads the ids of all pages and checks their size. */
async function idsOf(story: Story, query: NodeQuery, scope: Scope = ''): Promise<string[]> {
  const ids: string[] = []
  let after = query.after
  do {
    const {records, next} = await story.store.listNodes(scope, {...query, after})
    assert.ok(records.length <= query.limit)
    ids.push(...records.map((record) => JSON.parse(record).id))
    after = next
  } while (after !== undefined)
  return ids
}

async function crowd(story: Story): Promise<string[]> {
  const ids = Array.from({length: 40}, (_, i) => `m${i}`)
  await Promise.all(
    ids.map((id, i) => story.join(id, {capabilities: {labels: [`pool=${i % 2}`, ...(i % 5 === 0 ? ['five'] : [])]}})),
  )
  return [...ids, 'n1'].toSorted()
}

export function nodeListConformance(open: OpenStore): void {
  it('has pages of limited size', async (t) => {
    const story = await begin(t, open)
    const labels = ['x'.repeat(1_000_000)]
    const ids = Array.from({length: 20}, (_, i) => `m${String(i).padStart(2, '0')}`)
    for (const id of ids) await story.join(id, {capabilities: {labels}})
    const pages: string[][] = []
    let after: string | undefined
    do {
      const page = await story.store.listNodes('', {limit: 500, after})
      pages.push(page.records.map((record) => JSON.parse(record).id))
      after = page.next
    } while (after !== undefined)
    assert.deepEqual(pages.flat(), [...ids, 'n1'])
    assert.deepEqual(
      pages.map(({length}) => length),
      [9, 9, 3],
    )
  })

  for (const limit of [1, 7, 40, 41, 500])
    it(`contains each node once in pages of ${limit}, ordered by id`, async (t) => {
      const story = await begin(t, open)
      const ids = await crowd(story)
      await story.join('m5', {}, 'other')
      assert.deepEqual(await idsOf(story, {limit}), ids)
      assert.deepEqual(await idsOf(story, {limit}, 'other'), ['m5'])
    })

  it('continues correctly while nodes join and leave', async (t) => {
    const story = await begin(t, open)
    const ids = await crowd(story)
    const first = await story.store.listNodes('', {limit: 10})
    await story.store.setQuarantine('', first.next ?? '', true, 'admin')
    await story.store.leave('', first.next ?? '')
    await story.join('a-new-one')
    const rest = await idsOf(story, {limit: 10, after: first.next})
    assert.deepEqual([...first.records.map((record) => JSON.parse(record).id), ...rest], ids)
    assert.equal((await idsOf(story, {limit: 10})).length, 41)
  })

  const filters: readonly [name: string, query: Partial<NodeQuery>, isWanted: (i: number) => boolean][] = [
    ['a label', {labels: ['pool=1']}, (i) => i % 2 === 1],
    ['two labels', {labels: ['pool=0', 'five']}, (i) => i % 10 === 0],
    ['an unused label', {labels: ['five=5']}, () => false],
    ['time', {updatedSinceMs: 1_767_225_600_000 + minute}, (i) => i < 20],
    ['staleness', {staleAfterMs: minute - 1}, (i) => i < 20],
    ['staleness and a label', {staleAfterMs: minute - 1, labels: ['pool=1']}, (i) => i < 20 && i % 2 === 1],
    ['staleness at the threshold', {staleAfterMs: minute}, () => true],
  ]
  for (const [name, query, isWanted] of filters)
    it(`can be filtered by ${name}`, async (t) => {
      const story = await begin(t, open)
      await crowd(story)
      await story.store.leave('', 'n1')
      story.clock.advance(minute)
      await Promise.all(Array.from({length: 20}, (_, i) => story.beat(`m${i}`)))
      const wanted = Array.from({length: 40}, (_, i) => i)
        .filter(isWanted)
        .map((i) => `m${i}`)
      for (const limit of [3, 100]) assert.deepEqual(await idsOf(story, {limit, ...query}), wanted.toSorted())
    })

  it('supports brief records', async (t) => {
    const story = await begin(t, open)
    const labels = ['pool=train', 'a "word"']
    await story.join('rig', {capabilities: {labels, gpu_cuda: true}, listen_addr: 'http://10.0.0.7:1'}, 's')
    await story.store.setMaintenance('s', 'rig', {on: true}, 'admin')
    const {records} = await story.store.listNodes('s', {limit: 5, isBrief: true})
    assert.deepEqual(
      records.map((record) => JSON.parse(record)),
      [
        {
          id: 'rig',
          version: '1.0.0',
          capabilities: {labels},
          last_seen_unix_ms: story.clock.wall,
          scope_id: 's',
          maintenance: true,
        },
      ],
    )
  })
}
