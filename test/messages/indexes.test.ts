import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {claimSql} from '../../src/messages/claim.js'
import {exhaustedSql, unreadIdsSql} from '../../src/messages/dead-letters.js'
import {claimTimes, maxDeliveries} from '../../src/messages/delivery.js'
import {countSql, historySql, keptCountSql} from '../../src/messages/history.js'
import {earlierSql} from '../../src/messages/insert.js'
import {pruneSql} from '../../src/messages/prune.js'
import {countUnreadSql, deadSql, unreadPageSql, unreadSql} from '../../src/messages/unread.js'
import {openWithAgents} from './support/agents.js'

const inbox = {repository: 'r', agent: 2, limit: 10}
const kept = {repository: 'r', agent: 2, thread: null}

/** For each statement, the expected index and whether rows must be sorted. */
const plans = [
  {name: 'a claim', sql: claimSql, params: {...inbox, owner: 'o', ...claimTimes(0)}, index: 'unread'},
  {name: 'a look', sql: unreadSql, params: inbox, index: 'unread'},
  {name: 'a page', sql: unreadPageSql, params: {...inbox, before: 9}, index: 'unread', sorts: true},
  {name: 'the count of unread messages', sql: countUnreadSql, params: inbox, index: 'unread'},
  {name: 'the end of an inbox', sql: unreadIdsSql, params: {repository: 'r', agent: 2}, index: 'unread'},
  {name: 'dead letters', sql: deadSql, params: inbox, index: 'dead'},
  {name: 'a search for the dead', sql: exhaustedSql, params: {...inbox, ...claimTimes(0)}, index: 'exhausted'},
  {name: 'a key', sql: earlierSql, params: ['r', 1, 2, 'k'], index: 'key'},
  {
    name: 'the history',
    sql: historySql,
    params: {...kept, since: 0, beforeMs: 9, beforeId: 9, limit: 10},
    index: 'history',
  },
  {name: 'the count of the messages of an agent', sql: keptCountSql, params: kept, index: 'history'},
  {name: 'the count of all messages', sql: countSql, params: inbox, index: 'history', covers: true},
  {name: 'a pruning', sql: pruneSql, params: ['r', 0, 10], index: 'acknowledged', covers: true},
] as const

describe('the table of messages', () => {
  for (const {name, sql, params, index, ...more} of plans)
    it(`uses only the index ${index} for ${name}`, async (t) => {
      const {store} = await openWithAgents(t)
      const steps = store.all<{detail: string}>(`EXPLAIN QUERY PLAN ${sql}`, params).map(({detail}) => detail)
      const covering = 'covers' in more ? 'COVERING INDEX' : 'INDEX'
      assert.ok(
        steps.some((step) =>
          step.startsWith(`SEARCH a2a_messages USING ${covering} a2a_messages_${index} (repository_id=?`),
        ),
        steps.join('\n'),
      )
      assert.deepEqual(
        steps.filter((step) => step.startsWith('SCAN')),
        [],
      )
      assert.equal(
        steps.some((step) => step.includes('TEMP B-TREE FOR ORDER BY')),
        'sorts' in more,
        steps.join('\n'),
      )
    })

  it('has an index of exhausted messages that matches the delivery limit', async (t) => {
    const {store} = await openWithAgents(t)
    const {sql} = store.get<{sql: string}>("SELECT sql FROM sqlite_schema WHERE name = 'a2a_messages_exhausted'") ?? {}
    assert.ok(sql?.includes(`delivery_attempts >= ${maxDeliveries} `))
  })
})
