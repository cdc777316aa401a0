import assert from 'node:assert/strict'
import {it} from 'node:test'
import {begin, day, hour, type OpenStore, refused, type Story} from './story.js'

const kib = 1024
const put = (story: Story, name: string, bytes = Buffer.from(name), scope = '') =>
  story.store.putBlob(scope, {sha256: name, bytes})
const get = (story: Story, name: string, scope = '') => story.store.getBlob(scope, name)
const purge = async (story: Story) => {
  let steps = 1
  while (await story.store.purge()) steps++
  return steps
}

export function blobConformance(open: OpenStore): void {
  it('are returned unchanged, also after a restart', async (t) => {
    const story = await begin(t, open)
    const all = Buffer.from(Array.from({length: 256}, (_, byte) => byte))
    await put(story, 'all', all)
    await put(story, 'empty', Buffer.alloc(0))
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(await get(story, 'all'), all)
      assert.deepEqual(await get(story, 'empty'), Buffer.alloc(0))
      await story.restart()
    }
  })

  it('belong to one scope', async (t) => {
    const story = await begin(t, open, {maxScopeBlobBytes: kib})
    await put(story, 'a', undefined, 'one')
    await refused(get(story, 'a', 'two'), 'blob_not_found')
    await put(story, 'b', undefined, 'two')
    await refused(put(story, 'c', undefined, 'one'), 'blobs_full')
  })

  it('expire 24 hours after their last upload', async (t) => {
    const story = await begin(t, open)
    await put(story, 'once')
    await put(story, 'again')
    story.clock.advance(hour)
    await put(story, 'again')
    story.clock.advance(day - hour - 1)
    await purge(story)
    assert.deepEqual(await get(story, 'once'), Buffer.from('once'))
    story.clock.advance(1)
    await refused(get(story, 'once'), 'blob_not_found')
    assert.deepEqual(await get(story, 'again'), Buffer.from('again'))
    await put(story, 'once')
    await purge(story)
    assert.deepEqual(await get(story, 'once'), Buffer.from('once'))
    story.clock.advance(day)
    await purge(story)
    await refused(get(story, 'again'), 'blob_not_found')
  })

  it('are limited by the total size of their scope', async (t) => {
    const story = await begin(t, open, {maxScopeBlobBytes: 10 * kib})
    await put(story, 'large', Buffer.alloc(8 * kib))
    await put(story, 'small')
    await refused(put(story, 'too large', Buffer.alloc(kib + 1)), 'blobs_full')
    await refused(get(story, 'too large'), 'blob_not_found')
    await put(story, 'other')
    for (const name of ['large', 'small', 'other']) await put(story, name)
    await refused(put(story, 'one more'), 'blobs_full')
    await story.restart()
    await refused(put(story, 'one more'), 'blobs_full')
    story.clock.advance(day)
    await put(story, 'one more', Buffer.alloc(10 * kib))
  })

  it('are purged in steps', async (t) => {
    const story = await begin(t, open, {maxScopeBlobBytes: 20 * kib})
    for (let i = 0; i < 20; i++) await put(story, `${i}`)
    story.clock.advance(day)
    assert.ok((await purge(story)) > 2)
    for (let i = 20; i < 40; i++) await put(story, `${i}`)
    await refused(put(story, 'one more'), 'blobs_full')
  })
}
