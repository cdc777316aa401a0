import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {holdLockFile} from '../../src/files/index.js'
import {derivedFiles, derivedFolder, readSafetensorsHeader, writeSafetensors} from '../../src/weights/index.js'
import {temporaryFolder} from '../support/temporary.js'

async function setUp(test: TestContext) {
  const base = await temporaryFolder(test)
  const source = join(base, 'model.bin')
  await writeFile(source, 'weights')
  let made = 0
  const make = async (folder: string) => {
    made++
    await writeFile(join(folder, 'out'), (await readFile(source, 'utf8')).repeat(2))
  }
  const derivation = {folder: join(base, 'derived'), kind: 'converted', model: source, sources: [source]} as const
  /** Path of the derived file. */
  const derive = async (recipe = 'double', write = make) =>
    join(await derivedFiles({...derivation, recipe}, write), 'out')
  return {base, source, derive, count: () => made}
}

describe('derivedFiles', () => {
  it('creates the files once', async (test) => {
    const {derive, count} = await setUp(test)
    const file = await derive()
    assert.equal(await readFile(file, 'utf8'), 'weightsweights')
    assert.deepEqual([await derive(), count()], [file, 1])
  })

  it('creates other files for another recipe or a changed model', async (test) => {
    const {source, derive, count} = await setUp(test)
    const first = await derive()
    assert.notEqual(await derive('triple'), first)
    await writeFile(source, 'WEIGHTS')
    await utimes(source, 1, 2)
    assert.equal(await readFile(await derive(), 'utf8'), 'WEIGHTSWEIGHTS')
    assert.equal(count(), 3)
  })

  const damages: Record<string, (file: string) => Promise<void>> = {
    'a truncated file': (file) => truncate(file, 7),
    'a changed byte': (file) => writeFile(file, 'weightsweighks'),
    'an additional byte': (file) => writeFile(file, 'weightsweights!'),
    'a damaged manifest': (file) => truncate(join(dirname(file), 'entry.json'), 40),
    'a manifest of another version': async (file) => {
      const manifest = join(dirname(file), 'entry.json')
      await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('.v1', '.v2'))
    },
  }
  for (const [what, damage] of Object.entries(damages))
    it(`creates the files again because of ${what}`, async (test) => {
      const {base, derive, count} = await setUp(test)
      const file = await derive()
      await damage(file)
      assert.equal(await readFile(await derive(), 'utf8'), 'weightsweights')
      assert.equal(count(), 2)
      assert.deepEqual([await derive(), count()], [file, 2])
      assert.equal((await readdir(join(base, 'derived'))).length, 1)
    })

  it('records when the files were used last', async (test) => {
    const {derive} = await setUp(test)
    const manifest = join(dirname(await derive()), 'entry.json')
    await utimes(manifest, 1, 1)
    const before = Date.now()
    await derive()
    // The clock of the file system may be a few milliseconds behind.
    assert.ok((await stat(manifest)).mtimeMs > before - 1000)
  })

  it('never leaves partial files after a failure', async (test) => {
    const {base, derive} = await setUp(test)
    const failing = derive('x', async (folder) => {
      await writeFile(join(folder, 'out'), 'half')
      throw new Error('broken')
    })
    await assert.rejects(failing, /broken/)
    assert.deepEqual(await readdir(join(base, 'derived')), [])
  })

  it('removes the partial files of a process that was killed', async (test) => {
    const {base, derive} = await setUp(test)
    const folder = dirname(await derive())
    const other = join(base, 'derived', `${'0'.repeat(32)}.0123abcd.new`)
    for (const partial of [`${folder}.0123abcd.new`, other]) {
      await mkdir(partial)
      await writeFile(join(partial, 'out'), 'half')
    }
    await truncate(join(folder, 'out'), 0)
    await derive()
    assert.deepEqual(
      (await readdir(join(base, 'derived'))).sort(),
      [other, folder].map((path) => path.slice(dirname(path).length + 1)),
    )
  })

  it('creates the files once if they are requested concurrently', async (test) => {
    const {derive, count} = await setUp(test)
    const files = await Promise.all([derive(), derive()])
    assert.equal(files[0], files[1])
    assert.equal(count(), 1)
  })

  it('waits for a process that is deleting the files, and creates them again', async (test) => {
    const {derive, count} = await setUp(test)
    const folder = dirname(await derive())
    const deleting = await holdLockFile(`${folder}.lock`)
    let isOver = false
    const derived = derive().finally(() => {
      isOver = true
    })
    await Promise.race([derived, sleep(200)])
    assert.equal(isOver, false)
    await rm(folder, {recursive: true})
    await deleting?.release()
    assert.ok(existsSync(await derived))
    assert.equal(count(), 2)
  })

  it('reports a folder that is not writable', async (test) => {
    const {base, derive} = await setUp(test)
    await writeFile(join(base, 'derived'), '')
    await assert.rejects(derive(), {code: 'cache_unwritable'})
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
