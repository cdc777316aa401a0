import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {mkdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {replaceFiles, restoreFiles} from '../../../src/delegation/claimer/remote-files.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

describe('restoreFiles', () => {
  const sha256 = 'of the content'
  const written = [{path: 'a.txt', sha256}, {path: 'gone.txt'}, {path: 'new.txt', sha256}, {path: 'b/c.txt', sha256}]

  it('undoes a replacement that failed halfway', async (t) => {
    const root = await temporaryFolder(t)
    const folder = join(root, '.svc', 'remote', '1')
    // A file where the last path needs a folder.
    await writeFiles(root, {'a.txt': 'old', 'gone.txt': 'kept', b: 'a file'})
    await mkdir(folder, {recursive: true})
    for (const i of [0, 2, 3]) await writeFile(join(folder, `${i}.new`), 'new')
    await assert.rejects(replaceFiles(root, folder, written))
    assert.equal(await readFile(join(root, 'a.txt'), 'utf8'), 'new')
    await restoreFiles(root, folder, written)
    const contents = await Promise.all(['a.txt', 'gone.txt', 'b'].map((path) => readFile(join(root, path), 'utf8')))
    assert.deepEqual(contents, ['old', 'kept', 'a file'])
    assert.deepEqual([existsSync(join(root, 'new.txt')), existsSync(folder)], [false, false])
  })

  it('changes nothing if no file was replaced', async (t) => {
    const root = await temporaryFolder(t)
    const folder = join(root, '.svc', 'remote', '1')
    await writeFiles(root, {'a.txt': 'old', 'gone.txt': 'kept', 'new.txt': 'of a person', b: 'a file'})
    await mkdir(folder, {recursive: true})
    for (const i of [0, 2, 3]) await writeFile(join(folder, `${i}.new`), 'new')
    await restoreFiles(root, folder, written)
    const contents = await Promise.all(
      ['a.txt', 'gone.txt', 'new.txt'].map((path) => readFile(join(root, path), 'utf8')),
    )
    assert.deepEqual(contents, ['old', 'kept', 'of a person'])
  })
})
