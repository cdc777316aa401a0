import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {execa} from 'execa'
import {skipWithoutProgram} from '../support/programs.js'
import {projectFile} from '../support/project.js'
import {temporaryFolder} from '../support/temporary.js'

const changelog = '# Changelog\n\n## Unreleased\n\n### Fixed\n\n- A bug.\n\n## 0.1.0 - 2026-01-01\n\n- First.\n'

/** A repository with a package whose scripts do nothing. */
async function repository(t: TestContext): Promise<string> {
  const cwd = await temporaryFolder(t)
  const scripts = Object.fromEntries(['build', 'man', 'docs', 'names'].map((name) => [name, 'node --version']))
  // As that of this project, the script writes a file that contains the version.
  scripts.docs = `node -e "fs.writeFileSync('server.json', JSON.parse(fs.readFileSync('package.json')).version)"`
  await writeFile(join(cwd, 'package.json'), JSON.stringify({name: 'p', version: '0.1.0', scripts}))
  await writeFile(join(cwd, 'server.json'), '0.1.0')
  await writeFile(join(cwd, 'CHANGELOG.md'), changelog)
  await execa('git', ['init', '-q'], {cwd})
  for (const [key, value] of [
    ['user.name', 'A'],
    ['user.email', 'a@example.org'],
  ])
    await execa('git', ['config', key!, value!], {cwd})
  await execa('git', ['add', '.'], {cwd})
  await execa('git', ['commit', '-qm', 'Start'], {cwd})
  return cwd
}

async function release(cwd: string, version: string) {
  const npm = process.env.npm_execpath ?? (await execa('npm', ['root', '-g'])).stdout.concat('/npm/bin/npm-cli.js')
  return execa(process.execPath, [projectFile('scripts/release.js'), version], {
    cwd,
    env: {npm_execpath: npm},
    reject: false,
  })
}

describe('npm run release', {skip: skipWithoutProgram('git')}, () => {
  it('sets the version, dates the section of the changelog, commits and tags', async (t) => {
    const cwd = await repository(t)
    const {exitCode, stderr} = await release(cwd, '0.2.0')
    assert.equal(exitCode, 0, stderr)
    assert.equal(JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8')).version, '0.2.0')
    assert.match(
      await readFile(join(cwd, 'CHANGELOG.md'), 'utf8'),
      /^## Unreleased\n\n## 0\.2\.0 - \d{4}-\d\d-\d\d\n\n### Fixed\n\n- A bug\.\n\n## 0\.1\.0/m,
    )
    const git = async (...args: string[]) => (await execa('git', args, {cwd})).stdout
    assert.equal(await git('log', '-1', '--format=%s'), 'Release 0.2.0')
    assert.equal(await git('show', 'v0.2.0:server.json'), '0.2.0')
    assert.match(await git('tag', '-n9', '--list', 'v0.2.0'), /Version 0\.2\.0\n *\n *### Fixed\n *\n *- A bug\.$/)
    assert.equal(await git('status', '--porcelain'), '')
  })

  const refusals: readonly (readonly [string, (cwd: string) => Promise<unknown>, string, RegExp])[] = [
    ['a version that is none', async () => {}, 'next', /pass a version/],
    ['uncommitted changes', (cwd) => writeFile(join(cwd, 'x'), ''), '0.2.0', /commit or discard/],
    ['a tag that exists', (cwd) => execa('git', ['tag', 'v0.2.0'], {cwd}), '0.2.0', /v0\.2\.0 exists/],
  ]
  for (const [what, prepare, version, message] of refusals)
    it(`refuses ${what} and changes nothing`, async (t) => {
      const cwd = await repository(t)
      await prepare(cwd)
      const {exitCode, stderr} = await release(cwd, version)
      assert.deepEqual([exitCode, message.test(stderr)], [1, true], stderr)
      assert.equal(await readFile(join(cwd, 'CHANGELOG.md'), 'utf8'), changelog)
    })
})
