import assert from 'node:assert/strict'
import {mkdir, readdir, utimes, writeFile} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {holdLockFile} from '../../src/files/index.js'
import {derivedFiles, listCache, pruneCache} from '../../src/weights/index.js'
import {temporaryFolder} from '../support/temporary.js'

const day = 86_400_000
const all = {olderThanMs: Number.NEGATIVE_INFINITY, dryRun: false}

async function setUp(test: TestContext) {
  const base = await temporaryFolder(test)
  const folder = join(base, 'derived')
  const model = join(base, 'model.bin')
  await writeFile(model, 'weights')
  /** Path of an entry of 100 bytes that was used some days ago. */
  const entry = async (recipe: string, daysAgo: number) => {
    const derivation = {folder, kind: 'converted', model, sources: [model], recipe} as const
    const path = await derivedFiles(derivation, (partial) => writeFile(join(partial, 'out'), Buffer.alloc(100)))
    await utimes(join(path, 'entry.json'), 0, (Date.now() - daysAgo * day) / 1000)
    return path
  }
  const partialOf = async (path: string) => {
    const partial = `${path}.0123abcd.new`
    await mkdir(partial)
    await writeFile(join(partial, 'out'), 'half')
    return partial
  }
  return {folder, model, entry, partialOf}
}

const names = (paths: readonly string[]) => paths.map((path) => basename(path)).sort()
const ids = (entries: readonly {id: string}[]) => entries.map(({id}) => id).sort()

describe('listCache', () => {
  it('returns the entries in the order of their last use', async (test) => {
    const {folder, model, entry, partialOf} = await setUp(test)
    const [new_, old] = [await entry('new', 1), await entry('old', 40)]
    const partial = await partialOf(old)
    const entries = await listCache(folder)
    assert.deepEqual(
      entries.map(({bytes: _, lastUsedMs: __, ...others}) => others),
      [
        {id: basename(old), kind: 'converted', model, recipe: 'old'},
        {id: basename(new_), kind: 'converted', model, recipe: 'new'},
        {id: basename(partial), kind: 'partial', model: '', recipe: ''},
      ],
    )
    const [first, , last] = entries
    assert.ok((first?.bytes ?? 0) > 100)
    assert.equal(last?.bytes, 4)
    assert.ok(Math.abs(Date.now() - 40 * day - (first?.lastUsedMs ?? 0)) < day)
  })

  it('is empty without a folder', async (test) => {
    const {folder} = await setUp(test)
    assert.deepEqual(await listCache(folder), [])
  })
})

describe('pruneCache', () => {
  it('deletes old entries and partial ones', async (test) => {
    const {folder, entry, partialOf} = await setUp(test)
    const [new_, old] = [await entry('new', 1), await entry('old', 40)]
    const partial = await partialOf(new_)
    const options = {olderThanMs: 30 * day, dryRun: false}
    assert.deepEqual(ids((await pruneCache(folder, {...options, dryRun: true})).removed), names([old, partial]))
    assert.deepEqual((await readdir(folder)).sort(), names([new_, old, partial]))
    assert.deepEqual(ids((await pruneCache(folder, options)).removed), names([old, partial]))
    assert.deepEqual(await readdir(folder), names([new_]))
  })

  it('keeps files that svc has not created', async (test) => {
    const {folder, entry} = await setUp(test)
    const path = await entry('mine', 1)
    await writeFile(join(path, 'notes.txt'), 'mine')
    const foreign = join(folder, '0'.repeat(32))
    await mkdir(foreign)
    await writeFile(join(foreign, 'out'), '')
    await writeFile(join(folder, '1'.repeat(32)), '')
    await writeFile(join(folder, 'README'), '')
    assert.deepEqual(ids((await pruneCache(folder, all)).removed), names([path]))
    assert.deepEqual(await readdir(path), ['notes.txt'])
    assert.deepEqual((await readdir(folder)).sort(), names([foreign, join(folder, '1'.repeat(32)), path, 'README']))
    assert.deepEqual((await pruneCache(folder, all)).removed, [])
  })

  it('keeps what a process is creating', async (test) => {
    const {folder, entry, partialOf} = await setUp(test)
    const path = await entry('busy', 40)
    const partial = await partialOf(path)
    const lock = await holdLockFile(`${path}.lock`)
    assert.deepEqual((await pruneCache(folder, all)).removed, [])
    await lock?.release()
    assert.deepEqual(ids((await pruneCache(folder, all)).removed), names([path, partial]))
  })
})
