import assert from 'node:assert/strict'
import {mkdir, readdir, realpath, symlink} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {execa} from 'execa'
import {isErrorOf} from '../../src/errors/index.js'
import {containedOutput, containedPath} from '../../src/files/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

/** Creates a workspace `project` next to a file outside of it. */
async function workspace(test: TestContext) {
  const around = await realpath(await temporaryFolder(test))
  const root = join(around, 'project')
  await writeFiles(around, {'secret.txt': '', 'project-other/a.txt': '', 'PROJECT/a.txt': ''})
  await writeFiles(root, {'a.txt': '', 'src/b.txt': '', '..c/d.txt': '', '.git/config': '', '.svc/store.db': ''})
  return {around, root}
}

const denied = (work: Promise<unknown>, path: string, reason: RegExp) =>
  assert.rejects(
    work,
    (error) => isErrorOf(error, 'path_denied') && error.params.path === path && reason.test(error.params.reason),
    path,
  )

describe('containedPath', () => {
  it('resolves all paths of a file', async (test) => {
    const {root} = await workspace(test)
    for (const path of [
      'src/b.txt',
      './src//b.txt',
      'src/../src/b.txt',
      '../project/src/b.txt',
      join(root, 'src/b.txt'),
    ])
      assert.equal(await containedPath(root, path), join(root, 'src/b.txt'), path)
    assert.equal(await containedPath(root, '..c/d.txt'), join(root, '..c/d.txt'))
    assert.equal(await containedPath(root, 'src'), join(root, 'src'))
  })

  it('follows links inside the root', async (test) => {
    const {around, root} = await workspace(test)
    await symlink('src', join(root, 'relative'))
    await symlink(join(root, 'src/b.txt'), join(root, 'absolute'))
    await symlink('../project/src/b.txt', join(root, 'out-and-in'))
    await symlink(join(root, 'src'), join(around, 'back'))
    await symlink('../back', join(root, 'by-a-link-outside'))
    for (const path of ['relative/b.txt', 'absolute', 'out-and-in', 'by-a-link-outside/b.txt'])
      assert.equal(await containedPath(root, path), join(root, 'src/b.txt'), path)
  })

  it('accepts a root that is a symbolic link', async (test) => {
    const {around, root} = await workspace(test)
    const link = join(around, 'link')
    await symlink('project', link)
    for (const path of ['a.txt', join(link, 'a.txt'), join(root, 'a.txt')])
      assert.equal(await containedPath(link, path), join(root, 'a.txt'), path)
    await denied(containedPath(link, '../secret.txt'), '../secret.txt', /outside/)
    await denied(containedPath(root, join(link, 'a.txt')), join(link, 'a.txt'), /outside/)
  })

  it('refuses paths outside the root, existing or not', async (test) => {
    const {around, root} = await workspace(test)
    const paths = [
      '..',
      '../secret.txt',
      '../missing.txt',
      'src/../../secret.txt',
      'missing/../../secret.txt',
      '../project-other/a.txt',
      join(around, 'secret.txt'),
      `${root}-other/a.txt`,
      join(around, 'PROJECT/a.txt'),
      '/',
      '/no/such/file',
    ]
    for (const path of paths) await denied(containedPath(root, path), path, /it is outside the workspace/)
  })

  it('refuses links that leave the root', async (test) => {
    const {around, root} = await workspace(test)
    await symlink('../secret.txt', join(root, 'file'))
    await symlink(around, join(root, 'folder'))
    await symlink('file', join(root, 'twice'))
    for (const path of ['file', 'folder', 'folder/secret.txt', 'twice', join(root, 'file')])
      await denied(containedPath(root, path), path, /it is outside the workspace/)
  })

  it('refuses invalid paths and the root itself', async (test) => {
    const {root} = await workspace(test)
    await symlink('.', join(root, 'self'))
    for (const path of ['a.txt\0', '\0', '../\0'])
      await denied(containedPath(root, path), path, /contains a NUL character/)
    for (const path of ['', '.', 'src/..', '../project', root, 'self'])
      await denied(containedPath(root, path), path, /is the workspace directory itself/)
    await symlink('b', join(root, 'c'))
    await symlink('c', join(root, 'b'))
    await denied(containedPath(root, 'b'), 'b', /form a loop/)
    await denied(containedPath(root, 'x'.repeat(5000)), 'x'.repeat(5000), /too long/)
  })

  it('reports a missing file with the path of the caller', async (test) => {
    const {root} = await workspace(test)
    await symlink('nothing', join(root, 'dangling'))
    for (const path of ['missing.txt', 'missing/b.txt', 'a.txt/b.txt', 'dangling', 'A.TXT/x'])
      await assert.rejects(
        containedPath(root, path),
        (error) => isErrorOf(error, 'file_not_found') && error.params.path === path,
        path,
      )
  })
})

describe('containedOutput', () => {
  it('accepts existing and new files and folders below the root', async (test) => {
    const {root} = await workspace(test)
    for (const path of [
      'new.txt',
      'a.txt',
      'src/b.txt',
      'made/for/it.txt',
      './/src/./new.txt',
      '..c/new',
      'git/config',
    ])
      assert.equal(await containedOutput(root, path), join(root, path), path)
    assert.ok(!(await readdir(root)).includes('made'), 'creates nothing')
  })

  it('accepts links inside the root and a root that is a link', async (test) => {
    const {around, root} = await workspace(test)
    await symlink('src', join(root, 'linked'))
    await symlink('project', join(around, 'link'))
    assert.equal(await realpath(dirname(await containedOutput(root, 'linked/new.txt'))), join(root, 'src'))
    assert.equal(await containedOutput(join(around, 'link'), 'src/new.txt'), join(root, 'src/new.txt'))
  })

  const refused: readonly [string, RegExp][] = [
    ['', /is blank, or contains a backslash/],
    [' ', /is blank, or contains a backslash/],
    ['a\0b', /is blank, or contains a backslash/],
    ['src\\new.txt', /is blank, or contains a backslash/],
    ['/new.txt', /not relative/],
    ['C:/new.txt', /not relative/],
    ['c:new.txt', /not relative/],
    ['..', /contains "\.\."/],
    ['../new.txt', /contains "\.\."/],
    ['src/../new.txt', /contains "\.\."/],
    ['.', /path of a directory/],
    ['src/', /path of a directory/],
    ['src/.', /path of a directory/],
    ['.git/config', /^\.git is reserved for svc and git/],
    ['.git', /^\.git is reserved for svc and git/],
    ['sub/.SVC/new', /^\.SVC is reserved for svc and git/],
    ['a.txt/new.txt', /a part of the path is a file, not a directory/],
    ['a.txt/sub/new.txt', /a part of the path is a file, not a directory/],
  ]
  for (const [path, reason] of refused)
    it(`refuses ${JSON.stringify(path)}`, async (test) => {
      const {root} = await workspace(test)
      await denied(containedOutput(root, path), path, reason)
    })

  it('refuses links that leave the root, are dangling, or lead to reserved folders', async (test) => {
    const {around, root} = await workspace(test)
    await symlink(around, join(root, 'out'))
    await symlink(join(around, 'nothing'), join(root, 'dangling'))
    await symlink('.git', join(root, 'tools'))
    await denied(containedOutput(root, 'out/new.txt'), 'out/new.txt', /it is outside the workspace/)
    await denied(containedOutput(root, 'out/made/new.txt'), 'out/made/new.txt', /it is outside the workspace/)
    await denied(containedOutput(root, 'dangling/new.txt'), 'dangling/new.txt', /dangling symbolic link/)
    await denied(containedOutput(root, 'tools/config'), 'tools/config', /\.git is reserved for svc and git/)
    await denied(containedOutput(root, 'tools/hooks/new'), 'tools/hooks/new', /\.git is reserved for svc and git/)
  })

  it('refuses existing entries that are not regular files', async (test) => {
    const {around, root} = await workspace(test)
    await symlink('a.txt', join(root, 'link'))
    await symlink(join(around, 'nothing'), join(root, 'dangling'))
    await execa('mkfifo', [join(root, 'pipe')])
    await mkdir(join(root, 'folder'))
    for (const path of ['link', 'dangling', 'pipe', 'folder', 'src'])
      await assert.rejects(containedOutput(root, path), (error) => isErrorOf(error, 'output_exists'), path)
  })
})
