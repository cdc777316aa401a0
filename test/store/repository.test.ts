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

/** The first 16 hexadecimal digits of SHA-256, as the id is defined. */
const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

const https = 'https://example.org/team/project.git'

describe('a repository with an origin', () => {
  it('has an id made of the address and the place', async (t) => {
    const root = await folderOf(t)
    await writeFiles(root, {'.git/config': gitConfig(https)})
    assert.equal(repositoryRoot(root), root)
    assert.equal(repositoryId(root), digest(`${https}\0${root}`))
    assert.match(repositoryId(root), /^[0-9a-f]{16}$/)
  })

  it('has the same id in every folder below, and through a symbolic link', async (t) => {
    const root = await folderOf(t)
    await writeFiles(root, {'.git/config': gitConfig(https), 'src/deep/file.ts': ''})
    await symlink(join(root, 'src'), join(root, 'link'))
    for (const folder of ['src', 'src/deep', 'link', 'link/deep', 'src/not/there/yet']) {
      assert.equal(repositoryRoot(join(root, folder)), root, folder)
      assert.equal(repositoryId(join(root, folder)), repositoryId(root), folder)
    }
  })

  it('has another id when the address changes', async (t) => {
    const root = await folderOf(t)
    await writeFiles(root, {'.git/config': gitConfig(https)})
    const before = repositoryId(root)
    await writeFiles(root, {'.git/config': gitConfig('https://example.org/team/renamed.git')})
    assert.notEqual(repositoryId(root), before)
  })

  it('has another id than a second clone of the same origin', async (t) => {
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
    it(`counts ${written} as ${counted}`, async (t) => {
      const root = await folderOf(t)
      await writeFiles(root, {'.git/config': gitConfig(written)})
      assert.equal(repositoryId(root), digest(`${counted}\0${root}`))
    })
})

describe('a repository without an origin', () => {
  for (const [why, files] of [
    ['has no remote', {'.git/config': '[core]\n\tbare = false\n'}],
    ['has only another remote', {'.git/config': '[remote "upstream"]\n\turl = https://example.org/x.git\n'}],
    ['has no configuration', {'.git/HEAD': 'ref: refs/heads/main\n'}],
  ] as const)
    it(`is known by its place when it ${why}`, async (t) => {
      const root = await folderOf(t)
      await writeFiles(root, files)
      assert.equal(repositoryId(join(root, 'anywhere')), digest(root))
    })
})

describe('a folder outside any repository', () => {
  it('is known by its own real path', async (t) => {
    const folder = await folderOf(t)
    await mkdir(join(folder, 'real'))
    await symlink(join(folder, 'real'), join(folder, 'link'))
    assert.equal(repositoryRoot(join(folder, 'link')), join(folder, 'real'))
    assert.equal(repositoryId(join(folder, 'link')), digest(join(folder, 'real')))
  })
})

describe('a work tree beside its repository', () => {
  for (const [how, pointer] of [
    ['a relative', '../main/.git/worktrees/tree'],
    ['an absolute', undefined],
  ] as const)
    it(`shares the origin, found through ${how} .git file`, async (t) => {
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

describe('a submodule', () => {
  it('has the origin of its own configuration', async (t) => {
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

describe('a broken repository', () => {
  for (const [why, content] of [
    ['points nowhere', 'gitdir: ../gone/.git/worktrees/x\n'],
    ['is empty', ''],
    ['is not text', new Uint8Array([0xff, 0xfe, 0, 1])],
  ] as const)
    it(`still has an id when its .git file ${why}`, async (t) => {
      const root = await folderOf(t)
      await writeFiles(root, {'.git': content})
      assert.equal(repositoryId(root), digest(root))
    })
})
