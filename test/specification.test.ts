import assert from 'node:assert/strict'
import {existsSync, readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {type Requirement, sections, specification} from './specification.js'
import {projectFile} from './support/project.js'
import {hasTest, testTitles} from './support/test-titles.js'

/** The source of a test file, named by its path in `test/` without `.test.ts` or `.ts`. */
function sourceOf(file: string): string | undefined {
  const path = ['.test.ts', '.ts'].map((end) => projectFile(`test/${file}${end}`)).find((each) => existsSync(each))
  return path === undefined ? undefined : readFileSync(path, 'utf8')
}

const read = new Map<string, (title: string) => boolean>()

/** What is wrong with the reference to a test; undefined if the test exists. */
function faultOf(reference: string): string | undefined {
  const [, file = '', title = ''] = /^(\S+): (.+)$/.exec(reference) ?? []
  let has = read.get(file)
  if (has === undefined) {
    const source = sourceOf(file)
    if (source === undefined) return `${reference}: there is no such file`
    const titles = testTitles(source)
    has = (wanted) => hasTest(source, titles, wanted)
    read.set(file, has)
  }
  return has(title) ? undefined : `${reference}: there is no such test`
}

function faultsOf(requirements: readonly Requirement[]): string[] {
  const faults = requirements.flatMap(([requirement, ...tests]) =>
    tests.length === 0 ? [`${requirement}: no test`] : tests.flatMap((test) => faultOf(test) ?? []),
  )
  const names = requirements.map(([requirement]) => requirement)
  return [...faults, ...names.filter((name, i) => names.indexOf(name) < i).map((name) => `${name}: repeated`)]
}

describe('the requirements of the specification', () => {
  it('have a row in each section', () => {
    for (const section of sections) assert.ok(specification[section].length > 0, section)
  })

  it('are each held by existing tests, and named once', () => {
    assert.deepEqual(faultsOf(Object.values(specification).flat()), [])
  })
})

describe('the table of requirements', () => {
  it('reports missing files, missing tests, rows without a test and repeated rows', () => {
    const existing = 'specification: the table of requirements'
    const missing = ['nowhere: a title', 'specification: the table', 'specification: held by existing tests']
    assert.deepEqual(faultsOf([['right', existing], ['wrong', ...missing], ['bare'], ['right', existing]]), [
      'nowhere: a title: there is no such file',
      'specification: the table: there is no such test',
      'specification: held by existing tests: there is no such test',
      'bare: no test',
      'right: repeated',
    ])
  })
})

describe('the titles of a test file', () => {
  const source = `
    describe('a queue', () => {
      for (const [name, size, end] of [['of two', 2, 'in order']]) {
        it(name, () => {})
        it(\`holds \${size} tasks, \${end}\`, () => {})
        it(\`\${name}: is empty\`, () => {})
      }
    })`
  const has = (title: string) => hasTest(source, testTitles(source), title)

  it('are those in the source, those of tables, and those with substitutions or their beginnings', () => {
    for (const title of ['a queue', 'of two', 'holds', 'holds 2 tasks,', 'holds 2 tasks, in order', 'of two: is empty'])
      assert.equal(has(title), true, title)
  })

  it('are not parts of titles, and not texts that the file does not contain', () => {
    for (const title of ['a', 'queue', 'hold', 'holds 2', 'holds 7 tasks, in order', 'of three', 'of three: is empty'])
      assert.equal(has(title), false, title)
  })
})
