import assert from 'node:assert/strict'
import {readdirSync} from 'node:fs'
import {describe, it} from 'node:test'
import {projectFile} from '../support/project.js'
import {patternOf, stepsOf, testGuide} from './guides.js'

const guides = readdirSync(projectFile('docs')).filter((file) => file.endsWith('.md'))

describe('the guides', {concurrency: 2}, () => {
  for (const guide of guides) testGuide(`docs/${guide}`)
  testGuide('README.md')
})

describe('a console block', () => {
  it('has commands with their outputs', () => {
    const steps = stepsOf('# first\n$ a\nA\n\nB\n$ cat <<END\n> text\n> END\n$ c\n')
    assert.deepEqual(steps, [
      {command: 'a', output: 'A\n\nB\n'},
      {command: 'cat <<END\ntext\nEND', output: ''},
      {command: 'c', output: ''},
    ])
  })

  const matches: readonly [expected: string, actual: string, isMatch: boolean][] = [
    ['a\n', 'a\n', true],
    ['a\n', 'a\nb\n', false],
    ['a\n', 'b\na\n', false],
    ['a\n...\nz\n', 'a\nb\nc\nz\n', true],
    ['a\n...\nz\n', 'a\nz\n', true],
    ['a\n...\nz\n', 'a\nb\n', false],
    ['id ... of 3\n', 'id 7 of 3\n', true],
    ['id ... of 3\n', 'id 7\nof 3\n', false],
    ['a.c\n', 'abc\n', false],
  ]
  for (const [expected, actual, isMatch] of matches)
    it(`${isMatch ? 'matches' : 'does not match'} ${JSON.stringify(actual)} by ${JSON.stringify(expected)}`, () =>
      assert.equal(patternOf(expected).test(actual), isMatch))
})
