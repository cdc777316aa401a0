import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {readdir, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {clearWork, createWorkFolder} from '../../../src/delegation/worker/work-folder.js'
import {processStart} from '../../../src/process/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

describe('the folder of a run', () => {
  it('is accessible only to the user, and is removed with its contents', async (t) => {
    const parent = join(await temporaryFolder(t), 'work')
    const folder = await createWorkFolder(parent)
    for (const path of [parent, join(folder.root, '..'), folder.root])
      assert.equal((await stat(path)).mode & 0o777, 0o700)
    await writeFiles(folder.root, {'a/b': 'x'})
    await folder.remove()
    assert.deepEqual(await readdir(parent), [])
  })

  it('is cleared by the next worker, which also kills the command that runs in it', async (t) => {
    const parent = join(await temporaryFolder(t), 'work')
    const folder = await createWorkFolder(parent)
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {detached: true, stdio: 'ignore'})
    const exited = once(child, 'exit')
    const {pid = 0} = child
    folder.recordProcess(pid, processStart(pid) ?? '')
    await clearWork(parent)
    assert.equal((await exited)[1], 'SIGKILL')
    assert.deepEqual(await readdir(parent), [])
  })

  it('is cleared without killing a process that has the pid of an earlier command', async (t) => {
    const parent = join(await temporaryFolder(t), 'work')
    const folder = await createWorkFolder(parent)
    folder.recordProcess(process.pid, '1')
    await clearWork(parent)
    await clearWork(join(parent, 'missing'))
    assert.deepEqual(await readdir(parent), [])
  })
})
