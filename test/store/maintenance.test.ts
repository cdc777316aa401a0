import assert from 'node:assert/strict'
import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {fragment, moveAside, openStore} from '../../src/store/index.js'
import {temporaryFolder} from '../support/temporary.js'

describe('moveAside', () => {
  it('adds the time to the name, and a number if that name is taken', {timeout: 10_000}, async (test) => {
    const folder = await temporaryFolder(test)
    const path = join(folder, 'store.db')
    const now = new Date('2026-01-02T03:04:05.678Z')
    const names: string[] = []
    for (let i = 0; i < 3; i++) {
      const store = await openStore(path, [fragment('a', 'CREATE TABLE a (id INTEGER)')])
      store.close()
      names.push(await moveAside(path, now))
    }
    const first = `${path}.backup-20260102T030405Z`
    assert.deepEqual(names, [first, `${first}-2`, `${first}-3`])
    assert.deepEqual(
      (await readdir(folder)).map((name) => join(folder, name)),
      names,
    )
  })
})
