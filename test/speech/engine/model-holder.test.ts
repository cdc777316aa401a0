import assert from 'node:assert/strict'
import {realpath} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {ModelHolder} from '../../../src/speech/index.js'
import {openPaths} from '../../support/open-paths.js'
import {skipWithoutProc} from '../../support/resident-memory.js'
import {temporaryFolder} from '../../support/temporary.js'
import {writeWhisperFolder} from '../../support/whisper-files.js'
import {microShape, randomWhisper} from '../../support/whisper-weights.js'

describe('a speech model in use', {skip: skipWithoutProc}, () => {
  it('is open for other processes to see until the holder is closed', async (t) => {
    const path = await realpath(await temporaryFolder(t))
    await writeWhisperFolder(path, microShape, randomWhisper(microShape, 3))
    const holder = new ModelHolder({
      locate: async () => ({name: 'micro', path}),
      engine: {threads: 1, device: 'cpu', precision: 'auto', backend: 'auto', derivedFolder: join(path, 'derived')},
    })
    try {
      await holder.open(undefined)
      assert.ok(openPaths().includes(path))
    } finally {
      await holder.close()
    }
    assert.equal(openPaths().includes(path), false)
  })
})
