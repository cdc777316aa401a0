import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {mkdir, rm, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {temporaryFolder} from '../support/temporary.js'
import {affectedTests, changedFiles} from './affected.js'

const files = {
  'src/a.ts': "import './b.js'",
  'src/b.ts': '',
  'src/c.ts': '',
  'examples/model/config.json': '{}',
  'test/support/svc.ts': "projectFile('bin/svc.js')",
  'test/helper.ts': "import '../src/a.js'",
  'test/far.slow.ts': "import './helper.js'",
  'test/near.slow.ts': "import '../src/b.js'",
  'test/program.slow.ts': "import './support/svc.js'",
  'test/process.slow.ts': "projectFile('dist/test/helper.js')",
  'test/data.slow.ts': "projectFile('examples/model')",
}
const tests = Object.keys(files).filter((path) => path.endsWith('.slow.ts'))

async function project(t: TestContext): Promise<string> {
  const root = await temporaryFolder(t)
  await write(root, files)
  return root
}

async function write(root: string, contents: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(dirname(join(root, path)), {recursive: true})
    await writeFile(join(root, path), text)
  }
}

describe('the tests that a change affects', () => {
  const cases: readonly [changed: string, expected: Readonly<Record<string, number>>][] = [
    ['test/far.slow.ts', {far: 0}],
    ['src/b.ts', {far: 3, near: 1, process: 3, program: Number.POSITIVE_INFINITY}],
    ['src/c.ts', {program: Number.POSITIVE_INFINITY}],
    ['commands/new.ts', {program: Number.POSITIVE_INFINITY}],
    ['examples/model/config.json', {data: 1}],
    ['README.md', {}],
  ]
  for (const [changed, expected] of cases)
    it(`after a change of ${changed}`, async (t) => {
      const found = affectedTests(tests, [changed], await project(t))
      const names = [...found].map(([path, distance]) => [path.slice('test/'.length, -'.slow.ts'.length), distance])
      assert.deepEqual(Object.fromEntries(names), expected)
    })

  it('are all after a change of the dependencies', async (t) => {
    assert.equal(affectedTests(tests, ['package-lock.json'], await project(t)).size, tests.length)
  })
})

describe('the changed files', () => {
  it('are those of the branch, uncommitted and untracked ones', async (t) => {
    const root = await project(t)
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], {cwd: root, stdio: 'pipe'})
    git('init', '-b', 'main')
    git('add', '.')
    git('commit', '-m', 'Add all files')
    assert.deepEqual(changedFiles(root), [])
    git('switch', '-c', 'branch')
    await write(root, {'src/a.ts': 'changed', 'src/new.ts': ''})
    await rm(join(root, 'src/c.ts'))
    git('add', '.')
    git('commit', '-m', 'Change a module')
    git('switch', 'main')
    await write(root, {'src/b.ts': 'changed by others'})
    git('commit', '-am', 'Change another module')
    git('switch', 'branch')
    await write(root, {'test/helper.ts': 'changed', 'test/ü.ts': ''})
    assert.deepEqual(changedFiles(root).sort(), ['src/a.ts', 'src/c.ts', 'src/new.ts', 'test/helper.ts', 'test/ü.ts'])
  })
})
