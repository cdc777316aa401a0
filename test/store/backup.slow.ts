import assert from 'node:assert/strict'
import {it} from 'node:test'
import {backUpDuringWrites} from './backups-during-writes.js'
import {prepareRestore} from './kill-restore.js'

it('restores each of 60 backups, taken every second during writes, to a state that existed', async (t) => {
  await backUpDuringWrites(t, {count: 60, everyMs: 1000})
})

it('leaves the old or the new database if a restore is killed before any of its operations on files', async (t) => {
  const kill = await prepareRestore(t)
  let operations = 1
  while (await kill(operations)) operations++
  assert.ok(operations > 20, `${operations} operations`)
})
