import assert from 'node:assert/strict'
import {readFile, stat, utimes, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {lockFile} from '../../src/files/index.js'
import {temporaryFolder} from '../support/temporary.js'

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

describe('the lock of a file', () => {
  it('is held until it is released', async (test) => {
    const path = join(await temporaryFolder(test), 'file')
    const lock = await lockFile(path)
    assert.equal(await lock.isHeld(), true)
    await lock.release()
    assert.deepEqual([await lock.isHeld(), await isThere(`${path}.lock`)], [false, false])
  })

  it('of another process survives the release of one that was lost to it', async (test) => {
    const path = join(await temporaryFolder(test), 'file')
    const lock = await lockFile(path)
    await writeFile(`${path}.lock`, 'of another process')
    assert.equal(await lock.isHeld(), false)
    await lock.release()
    assert.equal(await readFile(`${path}.lock`, 'utf8'), 'of another process')
  })

  it('is taken over from a process that died with it', async (test) => {
    const path = join(await temporaryFolder(test), 'file')
    const abandoned = await lockFile(path)
    const before = new Date(Date.now() - 60_000)
    await utimes(`${path}.lock`, before, before)
    const lock = await lockFile(path)
    assert.deepEqual([await abandoned.isHeld(), await lock.isHeld()], [false, true])
    await lock.release()
  })
})
