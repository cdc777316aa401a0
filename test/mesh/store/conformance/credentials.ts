import assert from 'node:assert/strict'
import {it} from 'node:test'
import {begin, hour, minute, type OpenStore, refused} from './story.js'

export function credentialConformance(open: OpenStore): void {
  it('for single use are accepted once, even concurrently and after a restart', async (t) => {
    const story = await begin(t, open)
    const until = story.clock.wall + minute
    const uses = await Promise.all(Array.from({length: 50}, () => story.store.useTokenId('id', until)))
    assert.equal(uses.filter(Boolean).length, 1)
    await story.restart()
    assert.equal(await story.store.useTokenId('id', until), false)
    assert.equal(await story.store.useTokenId('other', until), true)
  })

  it('are remembered until they cannot be used any more', async (t) => {
    const story = await begin(t, open)
    await story.store.useTokenId('id', story.clock.wall + minute)
    story.clock.advance(minute - 1)
    while (await story.store.purge());
    assert.equal(await story.store.useTokenId('id', story.clock.wall + minute), false)
    story.clock.advance(1)
    while (await story.store.purge());
    assert.equal(await story.store.useTokenId('id', story.clock.wall + minute), true)
  })

  it('are refused above the limit, without forgetting others', async (t) => {
    const story = await begin(t, open)
    const {store, clock} = story
    const use = (from: number, to: number, keepUntil: number) =>
      Promise.all(Array.from({length: to - from}, (_, i) => store.useTokenId(`id ${from + i}`, keepUntil)))
    await use(0, 1000, clock.wall + minute)
    await use(1000, 50_000, clock.wall + hour)
    await refused(store.useTokenId('one more', clock.wall + hour), 'overloaded')
    assert.equal(await store.useTokenId('id 0', clock.wall + hour), false)
    clock.advance(minute)
    assert.equal(await store.useTokenId('one more', clock.wall + hour), true)
    assert.equal(await store.useTokenId('id 1000', clock.wall + hour), false)
    await story.restart()
    assert.equal(await story.store.useTokenId('id 49999', clock.wall + hour), false)
  })

  it('for bootstrap are accepted once, by any caller at any time', async (t) => {
    const story = await begin(t, open)
    const digest = 'ab'.repeat(32)
    const use = (by: string, scope = '') =>
      story.store.useBootstrap(scope, digest, {expiresMs: story.clock.wall + minute, by})
    const uses = await Promise.allSettled(Array.from({length: 20}, (_, i) => use(`node ${i}`)))
    assert.equal(uses.filter(({status}) => status === 'fulfilled').length, 1)
    await refused(use('n1', 'other'), 'bootstrap_consumed')
    for (const down of [0, 30 * 24 * hour]) {
      await story.restart(down)
      while (await story.store.purge());
      await refused(use('n1'), 'bootstrap_consumed')
    }
    await story.store.useBootstrap('', 'cd'.repeat(32), {expiresMs: story.clock.wall + minute, by: 'n1'})
  })
}
