import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {fragment, openStore, pruneTables} from '../../src/store/index.js'
import {temporaryFolder} from '../support/temporary.js'

describe('pruneTables', () => {
  const now = Date.UTC(2026, 5, 1)
  const day = 86_400_000
  const rules = {
    forever: {kind: 'keep_forever'},
    by_hand: {kind: 'manual'},
    text: {kind: 'days', days: 2, time_column: 'at'},
    whole: {kind: 'ms_days', days: 2, time_column: 'at'},
    expiring: {kind: 'expires_lt_now', time_column: 'at'},
    absent: {kind: 'days', days: 2, time_column: 'at'},
  } as const
  const ages = {
    forever: [0],
    by_hand: [0],
    // The second form is that of datetime().
    text: ['2026-05-29T23:59:59.000Z', '2026-05-29 23:59:59', '2026-05-30 00:00:00', '2026-05-30T00:00:00Z', null, '?'],
    whole: [now - 2 * day - 1, now - 2 * day, null],
    expiring: [now - 1, now, null],
  }

  /** A store with rows of these ages. */
  async function filled(test: TestContext) {
    const path = join(await temporaryFolder(test), 'store.db')
    const sql = Object.keys(ages).map((table) => `CREATE TABLE ${table} (at);`)
    const store = await openStore(path, [fragment('a', sql.join('\n'))])
    for (const [table, times] of Object.entries(ages))
      for (const at of times) store.run(`INSERT INTO ${table} (at) VALUES (?)`, [at])
    test.after(() => store.close())
    const counts = () =>
      Object.keys(ages).map((table) => store.get<{rows: number}>(`SELECT count(*) AS rows FROM ${table}`)?.rows)
    return {path, store, counts}
  }

  const found = [
    ['forever', 'keep_forever', null, 0],
    ['by_hand', 'manual', null, 0],
    ['text', 'days', 2, 2],
    ['whole', 'ms_days', 2, 1],
    ['expiring', 'expires_lt_now', null, 1],
    ['absent', 'days', 2, 0],
  ]

  for (const [apply, left] of [
    [false, [1, 1, 6, 3, 3]],
    [true, [1, 1, 4, 2, 2]],
  ] as const)
    it(`${apply ? 'deletes' : 'counts'} the old rows of each kind`, async (test) => {
      const {path, counts} = await filled(test)
      const tables = await pruneTables(path, rules, {apply, now})
      assert.deepEqual(
        tables.map(({table, kind, days, rows}) => [table, kind, days, rows]),
        found,
      )
      assert.deepEqual(counts(), left)
    })

  it('deletes nothing if one table cannot be pruned', async (test) => {
    const {path, store, counts} = await filled(test)
    store.run("CREATE TRIGGER kept BEFORE DELETE ON expiring BEGIN SELECT raise(ABORT, 'kept'); END")
    await assert.rejects(pruneTables(path, rules, {apply: true, now}), /kept/)
    assert.deepEqual(counts(), [1, 1, 6, 3, 3])
  })
})
