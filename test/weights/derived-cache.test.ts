import assert from 'node:assert/strict'
import {readdir, readFile, stat, utimes, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {derivedFile, derivedFolder, readSafetensorsHeader, writeSafetensors} from '../../src/weights/index.js'
import {temporaryFolder} from '../support/temporary.js'

async function setUp(test: TestContext) {
  const base = await temporaryFolder(test)
  const source = join(base, 'model.bin')
  await writeFile(source, 'weights')
  let made = 0
  const derive = (changes: {recipe?: string; content?: string; isSound?: (file: string) => Promise<boolean>} = {}) =>
    derivedFile(
      {folder: join(base, 'derived'), sources: [source], recipe: changes.recipe ?? 'double', extension: '.out'},
      async (file) => {
        made++
        await writeFile(file, changes.content ?? (await readFile(source, 'utf8')).repeat(2))
      },
      changes.isSound ?? (async (file) => (await stat(file)).size > 0),
    )
  return {base, source, derive, count: () => made}
}

describe('derivedFile', () => {
  it('creates the file once', async (test) => {
    const {derive, count} = await setUp(test)
    const file = await derive()
    assert.equal(await readFile(file, 'utf8'), 'weightsweights')
    assert.deepEqual([await derive(), count()], [file, 1])
  })

  it('creates another file for another recipe or a changed model', async (test) => {
    const {source, derive, count} = await setUp(test)
    const first = await derive()
    assert.notEqual(await derive({recipe: 'triple'}), first)
    await writeFile(source, 'WEIGHTS')
    await utimes(source, 1, 2)
    assert.equal(await readFile(await derive(), 'utf8'), 'WEIGHTSWEIGHTS')
    assert.equal(count(), 3)
  })

  it('recreates an invalid file', async (test) => {
    const {derive, count} = await setUp(test)
    await writeFile(await derive(), '')
    assert.equal(await readFile(await derive(), 'utf8'), 'weightsweights')
    assert.equal(count(), 2)
  })

  it('never leaves a partial file', async (test) => {
    const {base, source} = await setUp(test)
    const failing = derivedFile(
      {folder: join(base, 'derived'), sources: [source], recipe: 'x', extension: '.out'},
      async (file) => {
        await writeFile(file, 'half')
        throw new Error('broken')
      },
      async (file) => (await stat(file)).size > 0,
    )
    await assert.rejects(failing)
    assert.deepEqual(await readdir(join(base, 'derived')), [])
  })

  it('supports concurrent creation', async (test) => {
    const {derive} = await setUp(test)
    const files = await Promise.all([derive(), derive()])
    assert.equal(files[0], files[1])
  })

  it('reports a folder that is not writable', async (test) => {
    const {base, source} = await setUp(test)
    await writeFile(join(base, 'taken'), '')
    const derived = derivedFile(
      {folder: join(base, 'taken/derived'), sources: [source], recipe: 'x', extension: ''},
      () => Promise.resolve(),
      async () => false,
    )
    await assert.rejects(derived, {code: 'cache_unwritable'})
  })

  it('uses the folder in the environment', () => {
    assert.equal(derivedFolder({SVC_SPEECH_CACHE_DIR: '/a'}), '/a/derived')
    assert.equal(derivedFolder({XDG_CACHE_HOME: '/b'}), '/b/svc/derived')
  })
})

describe('writeSafetensors', () => {
  const tensors = [
    {name: 'a', dtype: 'F32', shape: [2], data: () => new Uint8Array(Float32Array.of(1, 2).buffer)},
    {name: 'b', dtype: 'U8', shape: [3], data: async () => Uint8Array.of(1, 2, 3)},
  ] as const

  it('writes tensors at the offsets in the header', async (test) => {
    const file = join(await temporaryFolder(test), 'a.safetensors')
    await writeSafetensors(file, tensors, {made: 'here'})
    const entries = await readSafetensorsHeader(file)
    assert.deepEqual(
      entries.map(({name, dtype, shape, length}) => [name, dtype, shape, length]),
      [
        ['a', 'F32', [2], 8],
        ['b', 'U8', [3], 3],
      ],
    )
    const bytes = await readFile(file)
    assert.deepEqual([...bytes.subarray(entries[1]?.offset)], [1, 2, 3])
  })

  it('preserves the existing file if it fails', async (test) => {
    const folder = await temporaryFolder(test)
    const file = join(folder, 'a.safetensors')
    await writeFile(file, 'before')
    const broken = [{...tensors[0], data: () => new Uint8Array(1)}]
    await assert.rejects(writeSafetensors(file, broken))
    assert.equal(await readFile(file, 'utf8'), 'before')
    assert.deepEqual(await readdir(folder), ['a.safetensors'])
  })
})
