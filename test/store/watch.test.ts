import assert from 'node:assert/strict'
import {appendFile, rename, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {fragment, openStore, watchStore} from '../../src/store/index.js'
import {temporaryFolder} from '../support/temporary.js'
import {until} from '../support/until.js'

const notes = fragment('notes', 'CREATE TABLE notes (id INTEGER PRIMARY KEY) STRICT')

async function watched(t: TestContext) {
  const path = join(await temporaryFolder(t), 'store.db')
  const store = await openStore(path, [notes])
  t.after(() => store.close())
  const reports: boolean[] = []
  const close = watchStore(store, (isOwn) => reports.push(isOwn))
  t.after(close)
  return {path, store, reports, close}
}

describe('watchStore', () => {
  it('reports commits of this process at once, and which are its own', async (t) => {
    const {path, store, reports, close} = await watched(t)
    const other = await openStore(path, [notes])
    t.after(() => other.close())
    reports.length = 0
    store.transaction(() => other.path)
    other.transaction(() => other.transaction(() => other.path))
    assert.deepEqual(reports, [true, false])
    close()
    store.transaction(() => store.path)
    assert.deepEqual(reports, [true, false])
  })

  for (const [what, change] of [
    ['writes to the write-ahead log', (path: string) => appendFile(`${path}-wal`, 'x')],
    [
      'a recreated write-ahead log',
      async (path: string) => {
        await rm(`${path}-wal`)
        await writeFile(`${path}-wal`, '')
      },
    ],
    [
      'a replaced database',
      async (path: string) => {
        await writeFile(`${path}.new`, '')
        await rename(`${path}.new`, path)
      },
    ],
  ] as const)
    it(`reports ${what}`, {skip: process.platform === 'win32' && 'Open files cannot be replaced.'}, async (t) => {
      const {path, reports} = await watched(t)
      reports.length = 0
      await change(path)
      await until(() => reports.includes(false), 'the change is reported')
    })

  it('accepts a folder that cannot be watched', () => {
    watchStore({path: '/missing/folder/store.db'}, () => undefined)()
  })
})
