import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {SvcError} from '../../src/errors/index.js'
import {randomSource} from '../../src/sampling/index.js'
import {detectGroups} from '../../src/tasks/routing/detect-groups.js'
import {matchesGlob} from '../../src/workspace/glob.js'
import {groupOf} from '../../src/workspace/groups.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

describe('a pattern', () => {
  const rows: [pattern: string, matches: string[], not: string[]][] = [
    ['docs/**', ['docs/a.md', 'docs/b/c.md', './docs/a.md', 'docs/.hidden'], ['docs', 'doc/a.md', 'x/docs/a.md']],
    ['docs/', ['docs/a.md', 'docs/b/c.md'], ['docs']],
    ['**/*', ['a', 'a/b', '.github/workflows/ci.yml'], []],
    ['**', ['a', 'a/b'], []],
    ['*', ['a', '.env'], ['a/b']],
    ['*.ts', ['a.ts', '.ts'], ['a/b.ts', 'a.tsx', 'ats']],
    ['**/*.ts', ['a.ts', 'a/b.ts', 'a/b/c.ts'], ['a.js', 'a.ts/b']],
    ['src/**/index.ts', ['src/index.ts', 'src/a/b/index.ts'], ['src/a/index.js', 'index.ts']],
    ['a/**/b/**/c', ['a/b/c', 'a/x/b/y/z/c', 'a/b/b/c'], ['a/c', 'a/b/c/d']],
    ['a?c.md', ['abc.md', 'a€c.md', 'a😀c.md'], ['ac.md', 'a/c.md', 'abbc.md']],
    ['*.test.*', ['a.test.ts', 'a.test.test.ts'], ['a.ts', 'test.ts']],
    ['a*b*c', ['abc', 'axbxc', 'abcbc', 'abbc'], ['ab', 'abcd', 'a/b/c']],
    ['a**b', ['ab', 'axxb'], ['a/b']],
    ['{src,test}/**/*.{ts,tsx}', ['src/a.ts', 'test/b/c.tsx'], ['lib/a.ts', 'src/a.js']],
    ['{a,b/{c,d}}/e', ['a/e', 'b/c/e', 'b/d/e'], ['b/e', 'c/e']],
    ['x{,.min}.js', ['x.js', 'x.min.js'], ['x.max.js']],
    ['{a', ['{a'], ['a']],
    ['{a}', ['{a}'], ['a']],
    ['{a,b', ['{a,b'], ['a']],
    ['{{a,b}', ['{a', '{b'], ['a']],
    ['a.c', ['a.c'], ['abc']],
    ['a+(b)[c]^$|\\', ['a+(b)[c]^$|\\'], ['aab', 'c']],
    ['README.md', ['README.md'], ['readme.md', 'a/README.md', 'README.md.bak']],
    ['', [], ['a']],
  ]
  for (const [pattern, matching, not] of rows)
    it(`"${pattern}" matches ${matching.join(', ') || 'nothing'}${not.length > 0 ? `, but not ${not.join(', ')}` : ''}`, () => {
      for (const path of matching) assert.ok(matchesGlob(path, pattern), path)
      for (const path of not) assert.ok(!matchesGlob(path, pattern), path)
    })

  it('agrees with a slow and simple matcher on random paths', () => {
    const simple = (pattern: string, path: string): boolean => {
      if (pattern === '') return path === ''
      if (pattern.startsWith('**/')) {
        const slash = path.indexOf('/')
        return simple(pattern.slice(3), path) || (slash > 0 && simple(pattern, path.slice(slash + 1)))
      }
      if (pattern[0] === '*') {
        if (simple(pattern.slice(1), path)) return true
        return path !== '' && path[0] !== '/' && simple(pattern, path.slice(1))
      }
      return path !== '' && pattern[0] === path[0] && simple(pattern.slice(1), path.slice(1))
    }
    const random = randomSource(5)
    const pick = (letters: string[]) => letters[Math.floor(random() * letters.length)] as string
    const name = (letters: string[]) => Array.from({length: 1 + Math.floor(random() * 4)}, () => pick(letters)).join('')
    const some = (make: () => string) => Array.from({length: 1 + Math.floor(random() * 4)}, make).join('/')
    let matched = 0
    for (let round = 0; round < 20_000; round++) {
      const head = some(() => (random() < 0.3 ? '**' : name(['a', 'b', '*']).replace(/\*+/g, '*')))
      const pattern = `${head}/${name(['a', '*']).replace(/\*+/g, '*')}`
      const path = some(() => name(['a', 'b']))
      // A lone star matches a name, and a name is never empty.
      const expected = simple(pattern, path)
      if (expected) matched++
      assert.equal(matchesGlob(path, pattern), expected, `${pattern} ${path}`)
    }
    assert.ok(matched > 1000)
  })

  it('with many stars is fast on a long path', () => {
    const started = performance.now()
    assert.ok(!matchesGlob(`${'a'.repeat(5000)}b`, `${'a*'.repeat(60)}c`))
    assert.ok(!matchesGlob(`${'a/'.repeat(2000)}b`, `${'**/a/'.repeat(40)}c`))
    assert.ok(performance.now() - started < 10_000)
  })

  it('is rejected if its braces expand to too many patterns', () => {
    assert.ok(matchesGlob('abababab', '{a,b}'.repeat(8)))
    assert.throws(
      () => matchesGlob('a', '{a,b}'.repeat(40)),
      (error) => error instanceof SvcError && error.code === 'usage' && error.message.includes('more than 1024'),
    )
  })
})

describe('a file', () => {
  const groups = [
    {name: 'manual', patterns: ['docs/man/**', 'README.md']},
    {name: 'docs', patterns: ['docs/**', '**/*.md']},
  ]
  it('belongs to the first matching group', () => {
    assert.deepEqual(
      ['docs/man/a.md', 'README.md', 'docs/a.md', 'src/a.md', 'src/a.ts'].map((path) => groupOf(path, groups)),
      ['manual', 'manual', 'docs', 'docs', undefined],
    )
  })
})

describe('a workspace without configured groups', () => {
  const manifest = (some: object) => JSON.stringify(some)

  it('has one per npm workspace, nested ones first', async (t) => {
    const root = await temporaryFolder(t)
    await writeFiles(root, {
      'package.json': manifest({workspaces: ['packages/*', './apps/**', '!apps/old', 'gone/*']}),
      'packages/web/package.json': manifest({name: '@acme/site'}),
      'packages/web/plugins/package.json': manifest({name: 'not-a-workspace'}),
      'packages/api/package.json': manifest({}),
      'packages/notes/README.md': 'no package',
      'apps/shop/package.json': manifest({name: 'shop'}),
      'apps/shop/admin/package.json': manifest({name: 'admin'}),
      'apps/shop/node_modules/x/package.json': manifest({name: 'x'}),
      'apps/old/package.json': manifest({name: 'old'}),
    })
    const groups = await detectGroups(root)
    assert.deepEqual(groups, [
      {name: 'node-admin', patterns: ['apps/shop/admin/**']},
      {name: 'node-shop', patterns: ['apps/shop/**']},
      {name: 'node-api', patterns: ['packages/api/**']},
      {name: 'node-site', patterns: ['packages/web/**']},
    ])
    assert.equal(groupOf('apps/shop/admin/a.ts', groups), 'node-admin')
  })

  it('accepts the object form of workspaces', async (t) => {
    const root = await temporaryFolder(t)
    await writeFiles(root, {
      'package.json': manifest({workspaces: {packages: ['web/']}}),
      'web/package.json': manifest({name: 'web'}),
    })
    assert.deepEqual(await detectGroups(root), [{name: 'node-web', patterns: ['web/**']}])
  })

  it('has one per Python and Go project below its root', async (t) => {
    const root = await temporaryFolder(t)
    await writeFiles(root, {
      'ml/pyproject.toml': '',
      'old/setup.py': '',
      'server/go.mod': 'module x',
      'server/inner/go.mod': 'module y',
      '.venv/setup.py': '',
      'docs/a.md': '',
    })
    assert.deepEqual(
      (await detectGroups(root)).map(({name}) => name),
      ['ml-group', 'old-group', 'server-group'],
    )
  })

  it('has both kinds without duplicate folders', async (t) => {
    const root = await temporaryFolder(t)
    await writeFiles(root, {
      'package.json': manifest({workspaces: ['web']}),
      'web/package.json': manifest({name: 'web'}),
      'web/setup.py': '',
      'ml/setup.py': '',
    })
    assert.deepEqual(
      (await detectGroups(root)).map(({name}) => name),
      ['node-web', 'ml-group'],
    )
  })

  for (const [what, files] of Object.entries({
    'is empty': {},
    'has a single package': {'package.json': manifest({name: 'one'}), 'src/a.ts': ''},
    'has a manifest that is not JSON': {'package.json': '{'},
    'has a manifest of another shape': {'package.json': '[]'},
    'has workspaces of another shape': {'package.json': manifest({workspaces: 'packages/*'})},
  }))
    it(`has a single group if it ${what}`, async (t) => {
      const root = await temporaryFolder(t)
      await writeFiles(root, files)
      const groups = await detectGroups(root)
      assert.deepEqual(groups, [{name: 'workspace', patterns: ['**/*']}])
      assert.equal(groupOf('.github/ci.yml', groups), 'workspace')
    })
})
