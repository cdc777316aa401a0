import assert from 'node:assert/strict'
import {readdir, readFile, stat, utimes, writeFile} from 'node:fs/promises'
import {hostname} from 'node:os'
import {dirname, join} from 'node:path'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {holdLockFile, lockFile, lockHolder, withLockFile} from '../../src/files/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

describe('lockFile', () => {
  it('holds the lock until its release', async (test) => {
    const path = join(await temporaryFolder(test), 'file')
    const lock = await lockFile(path)
    assert.equal(await lock.isHeld(), true)
    await lock.release()
    assert.deepEqual([await lock.isHeld(), await isThere(`${path}.lock`)], [false, false])
  })

  it('does not release a lock that another process has taken over', async (test) => {
    const path = join(await temporaryFolder(test), 'file')
    const lock = await lockFile(path)
    await writeFile(`${path}.lock`, 'of another process')
    assert.equal(await lock.isHeld(), false)
    await lock.release()
    assert.equal(await readFile(`${path}.lock`, 'utf8'), 'of another process')
  })

  it('takes over the lock of a dead process', async (test) => {
    const path = join(await temporaryFolder(test), 'file')
    const abandoned = await lockFile(path)
    const before = new Date(Date.now() - 60_000)
    await utimes(`${path}.lock`, before, before)
    const lock = await lockFile(path)
    assert.deepEqual([await abandoned.isHeld(), await lock.isHeld()], [false, true])
    await lock.release()
  })

  it('grants the lock to one process at a time', async (t) => {
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

  it('lets one waiting process take over a stale lock after two seconds', async (t) => {
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

  it('does not let the former holder release a lock that was taken over', async (t) => {
    const path = join(await temporaryFolder(t), 'file')
    const dead = await lockFile(path)
    await utimes(`${path}.lock`, new Date(), new Date(Date.now() - 2500))
    const living = await lockFile(path)
    await dead.release()
    assert.equal(await living.isHeld(), true)
    await living.release()
  })
})

/** Lock of a dead process: this pid is never used. */
const gone = `4194305 ${hostname()} 0`

describe('withLockFile', () => {
  for (const [what, left] of Object.entries({
    'is free': {},
    'was left by a dead process': {lock: gone},
    'was left by a process that died while discarding a lock': {lock: gone, 'lock.void': gone},
  }))
    it(`runs work sequentially under a lock that ${what}, and removes it`, async (test) => {
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

  it('releases the lock if the work fails, and can be aborted while waiting', async (test) => {
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

describe('lockHolder', () => {
  it('returns the process that holds a lock file, and since when', async (test) => {
    const path = join(await temporaryFolder(test), 'lock')
    assert.equal(await lockHolder(path), undefined)
    const before = Date.now()
    const lock = await holdLockFile(path)
    const {pid, sinceMs = 0} = (await lockHolder(path)) ?? {}
    assert.equal(pid, process.pid)
    assert.ok(before <= sinceMs && sinceMs <= Date.now())
    await lock?.release()
    assert.equal(await lockHolder(path), undefined)
  })

  for (const [what, holder] of Object.entries({
    'of a dead process': `${gone} 1`,
    'of another machine': `${process.pid} ${hostname()}-2 0 1`,
    'of an older version': `${process.pid} ${hostname()} 0`,
    'that is being written': '',
  }))
    it(`ignores a lock ${what}`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeFiles(folder, {lock: holder})
      assert.equal(await lockHolder(join(folder, 'lock')), undefined)
    })
})
