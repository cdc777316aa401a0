import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {argumentHash, cachedResult, cacheResult} from '../../../src/workflow/store/cache.js'
import {openFlows} from '../support.js'

describe('cached results of activities', () => {
  it('are identified by the workflow and the arguments, in any order of their members', () => {
    const hash = argumentHash('flow', {a: 1, b: {c: [1, 2]}})
    assert.equal(argumentHash('flow', {b: {c: [1, 2]}, a: 1}), hash)
    assert.notEqual(argumentHash('flow', {a: 1, b: {c: [2, 1]}}), hash)
    assert.notEqual(argumentHash('other', {a: 1, b: {c: [1, 2]}}), hash)
  })

  it('are found until their window ends, replaced by newer ones, and deleted after it', async (test) => {
    const {context} = await openFlows(test, {clock: 'real'})
    const at = {...context, now: () => 1000}
    const keep = (activityId: string, json: string, windowMs: number) =>
      cacheResult(at, {activityId, hash: 'h', json, windowMs})
    keep('a', '1', 500)
    keep('a', '2', 100)
    keep('b', '3', 500)
    const found = (activityId: string, now: number, hash = 'h') =>
      cachedResult({...context, now: () => now}, activityId, hash)?.result_json
    assert.deepEqual([found('a', 1099), found('a', 1100), found('a', 1099, 'other')], ['2', undefined, undefined])
    assert.equal(found('b', 1499), '3')
    cacheResult({...context, now: () => 1200}, {activityId: 'c', hash: 'h', json: '4', windowMs: 1})
    const rows = context.store.all<{activity_id: string}>(
      'SELECT activity_id FROM activity_result_cache ORDER BY activity_id',
      [],
    )
    assert.deepEqual(
      rows.map(({activity_id: id}) => id),
      ['b', 'c'],
    )
  })
})
