import assert from 'node:assert/strict'
import {chmod, lstat, mkdir, readdir, readFile, stat, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import {holdLockFile, writeFileAtomic, writeFileAtomicSync} from '../../src/files/index.js'
import {pageKey} from '../../src/pages/page-key.js'
import {smallDisk} from '../support/small-disk.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

type Write = (...args: Parameters<typeof writeFileAtomicSync>) => void | Promise<void>

const ways: readonly [string, Write][] = [
  ['writeFileAtomic', writeFileAtomic],
  ['writeFileAtomicSync', writeFileAtomicSync],
]

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

for (const [name, write] of ways)
  describe(name, () => {
    it('replaces a file and creates folders', async (test) => {
      const folder = await temporaryFolder(test)
      await writeFiles(folder, {'a.txt': 'x'.repeat(1000)})
      await write(join(folder, 'a.txt'), 'short\n')
      await write(join(folder, 'made/for/it.bin'), Uint8Array.of(0, 255), {flush: true})
      assert.equal(await readFile(join(folder, 'a.txt'), 'utf8'), 'short\n')
      assert.deepEqual([...(await readFile(join(folder, 'made/for/it.bin')))], [0, 255])
      assert.deepEqual(await readdir(folder), ['a.txt', 'made'])
      assert.deepEqual(await readdir(join(folder, 'made/for')), ['it.bin'])
    })

    it('keeps the mode of a replaced file by default', async (test) => {
      const path = join(await temporaryFolder(test), 'kept')
      await write(path, 'old', {mode: 0o600})
      await write(path, 'new')
      assert.deepEqual([await modeOf(path), await readFile(path, 'utf8')], [0o600, 'new'])
    })

    it('writes into devices and pipes', async () => {
      await write('/dev/null', 'gone')
      assert.ok((await stat('/dev/null')).isCharacterDevice())
    })

    it('accepts names of the maximum length', async (test) => {
      const path = join(await temporaryFolder(test), 'x'.repeat(255))
      await write(path, 'long')
      assert.equal(await readFile(path, 'utf8'), 'long')
    })

    it('sets the given mode, even if the replaced file had another one', async (test) => {
      const folder = await temporaryFolder(test)
      const path = join(folder, 'made/secret')
      await write(path, 'old', {mode: 0o644, folderMode: 0o700})
      await write(path, 'new', {mode: 0o600})
      assert.deepEqual([await modeOf(path), await modeOf(join(folder, 'made'))], [0o600, 0o700])
      await chmod(path, 0o400)
      await write(path, 'newer', {mode: 0o600})
      assert.deepEqual([await modeOf(path), await readFile(path, 'utf8')], [0o600, 'newer'])
    })

    it('keeps the mode regardless of the umask', async (test) => {
      const path = join(await temporaryFolder(test), 'run.sh')
      for (const mode of [0o777, 0o666]) {
        await write(path, 'old', {mode: 0o600})
        await chmod(path, mode)
        await write(path, 'new')
        assert.equal(await modeOf(path), mode)
      }
    })

    it('replaces a symbolic link instead of its target', async (test) => {
      const folder = await temporaryFolder(test)
      await writeFiles(folder, {'kept.txt': 'kept'})
      await symlink('kept.txt', join(folder, 'link'))
      await write(join(folder, 'link'), 'new')
      assert.ok((await lstat(join(folder, 'link'))).isFile())
      assert.equal(await readFile(join(folder, 'kept.txt'), 'utf8'), 'kept')
    })

    it('changes nothing on failure and reports the path', async (test) => {
      const folder = await temporaryFolder(test)
      await mkdir(join(folder, 'taken/sub'), {recursive: true})
      await writeFiles(folder, {'a.txt': 'kept'})
      const failure = async (path: string, content = 'new') => {
        try {
          await write(join(folder, path), content)
        } catch (error) {
          return error
        }
        return assert.fail(`${path} was written`)
      }
      const onFolder = await failure('taken')
      assert.ok(isErrorOf(onFolder, 'file_unwritable'))
      assert.deepEqual(onFolder.params, {path: join(folder, 'taken'), reason: 'it is a directory'})
      const belowFile = await failure('a.txt/sub/b.txt')
      assert.ok(isErrorOf(belowFile, 'file_unwritable'))
      const needed = {path: join(folder, 'a.txt/sub/b.txt'), reason: 'a part of the path is a file, not a directory'}
      assert.deepEqual(belowFile.params, needed)
      assert.deepEqual((await readdir(folder)).sort(), ['a.txt', 'taken'])
      assert.deepEqual(await readdir(join(folder, 'taken')), ['sub'])
      assert.equal(await readFile(join(folder, 'a.txt'), 'utf8'), 'kept')
    })
  })

describe('concurrent writes', () => {
  it('leave one complete file at any time', async (test) => {
    const folder = await temporaryFolder(test)
    const path = join(folder, 'a.txt')
    const contents = Array.from({length: 16}, (_, i) => String.fromCharCode(97 + i).repeat(300_000))
    await writeFileAtomic(path, contents[0] as string)
    const seen: string[] = []
    let ended = false
    const looking = (async () => {
      while (!ended) seen.push(await readFile(path, 'utf8'))
    })()
    await Promise.all(contents.map((content) => writeFileAtomic(path, content)))
    ended = true
    await looking
    seen.push(await readFile(path, 'utf8'))
    assert.ok(
      seen.every((text) => contents.includes(text)),
      'no part of a file is seen',
    )
    assert.deepEqual(await readdir(folder), ['a.txt'])
  })
})

describe('a full disk', () => {
  it('leaves the folder as it was, and the next write succeeds', async (test) => {
    const disk = await smallDisk(test, 64)
    if (disk === undefined) return test.skip('this process must not mount a file system')
    const path = join(disk.path, 'a.txt')
    disk.fill()
    const content = 'x'.repeat(100)
    const isFull = (error: unknown) => isErrorOf(error, 'disk_full')
    for (const keep of [true, false]) await assert.rejects(writeFileAtomic(path, content, {keep}), isFull)
    assert.throws(() => writeFileAtomicSync(path, content), isFull)
    await assert.rejects(holdLockFile(join(disk.path, 'lock')), isFull)
    assert.match(pageKey(path), /^[\w-]{24}$/)
    assert.deepEqual(await readdir(disk.path), ['a.txt', 'filler'])
    disk.free()
    const key = pageKey(path)
    assert.equal(pageKey(path), key, 'the rest of a key is replaced')
    await writeFileAtomic(path, content)
    assert.equal(await readFile(path, 'utf8'), content)
  })
})
