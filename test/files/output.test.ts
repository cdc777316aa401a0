import assert from 'node:assert/strict'
import {link, mkdir, readdir, readFile, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {type ErrorCode, isErrorOf} from '../../src/errors/index.js'
import {checkOutputs, writeFileAtomic, writeGenerated, writeOutput} from '../../src/files/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const refused = (work: Promise<unknown>, code: ErrorCode, path: string) =>
  assert.rejects(work, (error) => isErrorOf(error, code) && (error.params as {path: string}).path === path, path)

const keep = {overwrite: false, inputs: []}
const overwrite = {overwrite: true, inputs: []}

describe('writeOutput', () => {
  it('replaces a file only with overwrite', async (test) => {
    const path = join(await temporaryFolder(test), 'a.txt')
    await writeOutput(path, 'first', keep)
    await refused(writeOutput(path, 'second', keep), 'output_exists', path)
    assert.equal(await readFile(path, 'utf8'), 'first')
    await writeOutput(path, 'second', overwrite)
    assert.equal(await readFile(path, 'utf8'), 'second')
  })

  it('never replaces an input, under any name', async (test) => {
    const folder = await temporaryFolder(test)
    const input = join(folder, 'notes.txt')
    await writeFile(input, 'mine')
    await link(input, join(folder, 'linked'))
    await symlink('notes.txt', join(folder, 'pointing'))
    for (const name of ['notes.txt', 'linked', 'pointing'])
      await refused(
        writeOutput(join(folder, name), 'x', {overwrite: true, inputs: ['-', input]}),
        'output_is_input',
        join(folder, name),
      )
    assert.equal(await readFile(input, 'utf8'), 'mine')
  })

  it('never replaces a folder, and writes into devices', async (test) => {
    const folder = await temporaryFolder(test)
    await refused(checkOutputs([folder], overwrite), 'output_exists', folder)
    await writeOutput('/dev/null', 'gone', keep)
  })

  it('succeeds for one of several concurrent writers and leaves no other files', async (test) => {
    const folder = await temporaryFolder(test)
    const path = join(folder, 'a.txt')
    const texts = Array.from({length: 20}, (_, i) => `text ${i}`)
    const ends = await Promise.allSettled(texts.map((text) => writeFileAtomic(path, text, {keep: true})))
    const written = texts.filter((_, i) => ends[i]?.status === 'fulfilled')
    assert.deepEqual(written, [await readFile(path, 'utf8')])
    assert.deepEqual(await readdir(folder), ['a.txt'])
  })

  it('reports a failure', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {file: ''})
    const path = join(folder, 'file/below.txt')
    await assert.rejects(
      writeOutput(path, 'x', keep),
      (error) =>
        isErrorOf(error, 'file_unwritable') && /^Cannot write .*: a part of the path is a file/.test(error.message),
    )
  })
})

describe('writeGenerated', () => {
  it('replaces generated files until they are edited', async (test) => {
    const folder = join(await temporaryFolder(test), 'made')
    await writeGenerated(folder, {'a.ts': 'a1', 'b.ts': 'b1'}, keep)
    await writeGenerated(folder, {'a.ts': 'a2', 'b.ts': 'b1'}, keep)
    assert.equal(await readFile(join(folder, 'a.ts'), 'utf8'), 'a2')
    await writeFile(join(folder, 'b.ts'), 'by hand')
    await refused(writeGenerated(folder, {'a.ts': 'a3', 'b.ts': 'b2'}, keep), 'output_exists', join(folder, 'b.ts'))
    assert.equal(await readFile(join(folder, 'a.ts'), 'utf8'), 'a2', 'nothing is written where one is refused')
    assert.equal(await readFile(join(folder, 'b.ts'), 'utf8'), 'by hand')
    await writeGenerated(folder, {'b.ts': 'b2'}, overwrite)
    await writeGenerated(folder, {'a.ts': 'a3', 'b.ts': 'b3'}, keep)
    assert.equal(await readFile(join(folder, 'b.ts'), 'utf8'), 'b3')
  })

  it('does not replace other files, unless they are identical', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {'a.ts': 'mine', 'same.ts': 'same'})
    await mkdir(join(folder, 'folder.ts'))
    await refused(writeGenerated(folder, {'a.ts': 'x'}, keep), 'output_exists', join(folder, 'a.ts'))
    await refused(writeGenerated(folder, {'folder.ts': 'x'}, overwrite), 'output_exists', join(folder, 'folder.ts'))
    await writeGenerated(folder, {'same.ts': 'same'}, keep)
    assert.equal(await readFile(join(folder, 'a.ts'), 'utf8'), 'mine')
  })
})
