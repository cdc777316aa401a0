import assert from 'node:assert/strict'
import {readdir} from 'node:fs/promises'
import {hostname} from 'node:os'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {withLock} from '../../../src/weights/hub/lock.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

/** What processes leave that are gone; none has this number. */
const gone = `4194305 ${hostname()} 0`

describe('a lock that many want', () => {
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
      await Promise.all(Array.from({length: 3}, () => withLock(join(folder, 'lock'), undefined, work)))
      assert.deepEqual(await readdir(folder), [])
    })

  it('is let go of when the work fails, and waiting for it can be stopped', async (test) => {
    const path = join(await temporaryFolder(test), 'lock')
    const stop = new AbortController()
    const failing = withLock(path, undefined, async () => {
      const waiting = withLock(path, stop.signal, async () => assert.fail('two at once'))
      stop.abort(new Error('stopped'))
      await assert.rejects(waiting, /stopped/)
      throw new Error('failed')
    })
    await assert.rejects(failing, /failed/)
    assert.equal(await withLock(path, undefined, async () => 'free'), 'free')
  })
})
