import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {mkdir, realpath, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {repositoryId, repositoryRoot} from '../../src/store/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const gitConfig = (url: string) => `[core]
	bare = false
[remote "upstream"]
	url = https://example.org/upstream.git
[remote "origin"]
	fetch = +refs/heads/*:refs/remotes/origin/*
	pushurl = https://example.org/push.git
	url = ${url}
[branch "main"]
	remote = origin
`

const folderOf = async (test: TestContext) => realpath(await temporaryFolder(test))

/** First 16 hexadecimal digits of the SHA-256, as defined for the id. */
const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

const https = 'https://example.org/team/project.git'

describe('repository with an origin', () => {
  it('has an id from its origin URL and path', async (t) => {
    const root = await folderOf(t)
    await writeFiles(root, {'.git/config': gitConfig(https)})
    assert.equal(repositoryRoot(root), root)
    assert.equal(repositoryId(root), digest(`${https}\0${root}`))
    assert.match(repositoryId(root), /^[0-9a-f]{16}$/)
  })

  it('has the same id in subfolders and through symbolic links', async (t) => {
    const root = await folderOf(t)
    await writeFiles(root, {'.git/config': gitConfig(https), 'src/deep/file.ts': ''})
    await symlink(join(root, 'src'), join(root, 'link'))
    for (const folder of ['src', 'src/deep', 'link', 'link/deep', 'src/not/there/yet']) {
      assert.equal(repositoryRoot(join(root, folder)), root, folder)
      assert.equal(repositoryId(join(root, folder)), repositoryId(root), folder)
    }
  })

  it('has another id if the URL changes', async (t) => {
    const root = await folderOf(t)
    await writeFiles(root, {'.git/config': gitConfig(https)})
    const before = repositoryId(root)
    await writeFiles(root, {'.git/config': gitConfig('https://example.org/team/renamed.git')})
    assert.notEqual(repositoryId(root), before)
  })

  it('has another id than a second clone', async (t) => {
    const folder = await folderOf(t)
    await writeFiles(folder, {'one/.git/config': gitConfig(https), 'two/.git/config': gitConfig(https)})
    assert.notEqual(repositoryId(join(folder, 'one')), repositoryId(join(folder, 'two')))
  })

  const addresses: [written: string, counted: string][] = [
    ['https://ann@example.org/p.git', 'https://example.org/p.git'],
    ['https://ann:pass-word@example.org/p.git', 'https://example.org/p.git'],
    ['https://ann:p@ss@example.org/p.git', 'https://example.org/p.git'],
    ['https://ghp_token:x-oauth-basic@example.org:8443/p.git', 'https://example.org:8443/p.git'],
    ['ssh://git@example.org/p.git', 'ssh://example.org/p.git'],
    ['https://example.org/a@b/p.git', 'https://example.org/a@b/p.git'],
    ['git@example.org:team/p.git', 'git@example.org:team/p.git'],
    ['/srv/git/p.git', '/srv/git/p.git'],
  ]
  for (const [written, counted] of addresses)
    it(`normalises ${written} to ${counted}`, async (t) => {
      const root = await folderOf(t)
      await writeFiles(root, {'.git/config': gitConfig(written)})
      assert.equal(repositoryId(root), digest(`${counted}\0${root}`))
    })
})

describe('repository without an origin', () => {
  for (const [why, files] of [
    ['has no remote', {'.git/config': '[core]\n\tbare = false\n'}],
    ['has only another remote', {'.git/config': '[remote "upstream"]\n\turl = https://example.org/x.git\n'}],
    ['has no configuration', {'.git/HEAD': 'ref: refs/heads/main\n'}],
  ] as const)
    it(`is identified by its path if it ${why}`, async (t) => {
      const root = await folderOf(t)
      await writeFiles(root, files)
      assert.equal(repositoryId(join(root, 'anywhere')), digest(root))
    })
})

describe('folder outside a repository', () => {
  it('is identified by its real path', async (t) => {
    const folder = await folderOf(t)
    await mkdir(join(folder, 'real'))
    await symlink(join(folder, 'real'), join(folder, 'link'))
    assert.equal(repositoryRoot(join(folder, 'link')), join(folder, 'real'))
    assert.equal(repositoryId(join(folder, 'link')), digest(join(folder, 'real')))
  })
})

describe('work tree', () => {
  for (const [how, pointer] of [
    ['a relative', '../main/.git/worktrees/tree'],
    ['an absolute', undefined],
  ] as const)
    it(`has the origin of its repository, found by ${how} path in its .git file`, async (t) => {
      const folder = await folderOf(t)
      await writeFiles(folder, {
        'main/.git/config': gitConfig(https),
        'main/.git/worktrees/tree/commondir': '../..\n',
        'tree/.git': `gitdir: ${pointer ?? join(folder, 'main/.git/worktrees/tree')}\n`,
        'tree/src/file.ts': '',
      })
      const root = join(folder, 'tree')
      assert.equal(repositoryRoot(join(root, 'src')), root)
      assert.equal(repositoryId(join(root, 'src')), digest(`${https}\0${root}`))
      assert.notEqual(repositoryId(root), repositoryId(join(folder, 'main')))
    })
})

describe('submodule', () => {
  it('has its own origin', async (t) => {
    const folder = await folderOf(t)
    await writeFiles(folder, {
      '.git/config': gitConfig('https://example.org/outer.git'),
      '.git/modules/part/config': gitConfig(https),
      'part/.git': 'gitdir: ../.git/modules/part\n',
    })
    const root = join(folder, 'part')
    assert.equal(repositoryId(root), digest(`${https}\0${root}`))
  })
})

describe('broken repository', () => {
  for (const [why, content] of [
    ['has a dangling path', 'gitdir: ../gone/.git/worktrees/x\n'],
    ['is empty', ''],
    ['is not text', new Uint8Array([0xff, 0xfe, 0, 1])],
  ] as const)
    it(`has an id even if its .git file ${why}`, async (t) => {
      const root = await folderOf(t)
      await writeFiles(root, {'.git': content})
      assert.equal(repositoryId(root), digest(root))
    })
})
