import assert from 'node:assert/strict'
import {readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {appendJsonLine} from '../../src/files/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

describe('appendJsonLine', () => {
  it('creates the file and its folders, with the mode of the system', async (test) => {
    const path = join(await temporaryFolder(test), 'new/for/it.jsonl')
    await appendJsonLine(path, {a: 'line\nbreak'})
    await appendJsonLine(path, {b: 2})
    assert.equal(await readFile(path, 'utf8'), '{"a":"line\\nbreak"}\n{"b":2}\n')
    assert.equal((await stat(path)).mode & 0o777, 0o666 & ~process.umask())
  })

  it('starts a new line if the file ends within one', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {'cut.jsonl': '{"a":'})
    await appendJsonLine(join(folder, 'cut.jsonl'), {b: 2})
    assert.equal(await readFile(join(folder, 'cut.jsonl'), 'utf8'), '{"a":\n{"b":2}\n')
  })

  it('does not mix the lines of concurrent writers', async (test) => {
    const path = join(await temporaryFolder(test), 'shared.jsonl')
    const values = Array.from({length: 40}, (_, i) => ({i, text: 'x'.repeat(10_000)}))
    await Promise.all(values.map((value) => appendJsonLine(path, value)))
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
    const read = lines.map((line) => JSON.parse(line))
    assert.deepEqual(
      read.sort((a, b) => a.i - b.i),
      values,
    )
  })

  it('appends to pipes and devices', () => appendJsonLine('/dev/null', {a: 1}))

  it('names the file that cannot be written', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {file: ''})
    await assert.rejects(appendJsonLine(folder, {}), {
      code: 'file_unwritable',
      params: {path: folder, reason: 'it is a directory'},
    })
    await assert.rejects(appendJsonLine(join(folder, 'file/x'), {}), {code: 'file_unwritable'})
  })
})
