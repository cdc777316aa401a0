import assert from 'node:assert/strict'
import {readdir, readFile, stat, utimes, writeFile} from 'node:fs/promises'
import {hostname} from 'node:os'
import {dirname, join} from 'node:path'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {lockFile, withLockFile} from '../../src/files/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

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

  it('is had by one at a time', async (t) => {
    const path = join(await temporaryFolder(t), 'file')
    const first = await lockFile(path)
    let isTaken = false
    const second = lockFile(path).then((lock) => {
      isTaken = true
      return lock
    })
    await sleep(30)
    assert.equal(isTaken, false)
    await first.release()
    await (await second).release()
    assert.deepEqual(await readdir(dirname(path)), [])
  })

  it('of a process that died is taken away after two seconds, by one of those who wait', async (t) => {
    const path = join(await temporaryFolder(t), 'file')
    const dead = await lockFile(path)
    await utimes(`${path}.lock`, new Date(), new Date(Date.now() - 2500))
    let holders = 0
    let most = 0
    const hold = async () => {
      const lock = await lockFile(path)
      most = Math.max(most, ++holders)
      await sleep(5)
      assert.equal(await lock.isHeld(), true)
      holders -= 1
      await lock.release()
    }
    await Promise.all(Array.from({length: 12}, hold))
    assert.equal(most, 1)
    assert.equal(await dead.isHeld(), false, 'who comes back from a long stop has it no more')
    await dead.release()
    assert.deepEqual(await readdir(dirname(path)), [])
  })

  it('that was taken over is not given back by who had it before', async (t) => {
    const path = join(await temporaryFolder(t), 'file')
    const dead = await lockFile(path)
    await utimes(`${path}.lock`, new Date(), new Date(Date.now() - 2500))
    const living = await lockFile(path)
    await dead.release()
    assert.equal(await living.isHeld(), true)
    await living.release()
  })
})

/** What processes leave that are gone; none has this number. */
const gone = `4194305 ${hostname()} 0`

describe('a lock that is held while work is done', () => {
  for (const [what, left] of Object.entries({
    'is free': {},
    'was left by a process that is gone': {lock: gone},
    'was left by one that went while it removed another': {lock: gone, 'lock.void': gone},
  }))
    it(`and that ${what} is held by one after the other, and is gone afterwards`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeFiles(folder, left)
      let inside = 0
      const work = async () => {
        assert.equal(++inside, 1)
        await sleep(1)
        inside--
      }
      await Promise.all(Array.from({length: 3}, () => withLockFile(join(folder, 'lock'), undefined, work)))
      assert.deepEqual(await readdir(folder), [])
    })

  it('is let go of when the work fails, and waiting for it can be stopped', async (test) => {
    const path = join(await temporaryFolder(test), 'lock')
    const stop = new AbortController()
    const failing = withLockFile(path, undefined, async () => {
      const waiting = withLockFile(path, stop.signal, async () => assert.fail('two at once'))
      stop.abort(new Error('stopped'))
      await assert.rejects(waiting, /stopped/)
      throw new Error('failed')
    })
    await assert.rejects(failing, /failed/)
    assert.equal(await withLockFile(path, undefined, async () => 'free'), 'free')
  })
})
