import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {Application, checkProgram, formatSource} from '../../src/lang/index.js'
import {projectFile} from '../support/project.js'

const paths = readdirSync(projectFile('examples/apps')).filter((name) => name.endsWith('.svc'))

describe('the example applications', () => {
  for (const name of paths) {
    const source = readFileSync(projectFile(`examples/apps/${name}`), 'utf8')
    const program = checkProgram(source)

    it(`${name} is formatted, shorter than 150 lines, and has no diagnostics`, () => {
      assert.deepEqual(program.diagnostics, [])
      assert.equal(formatSource(source), source)
      assert.ok(source.split('\n').length < 150)
      assert.ok(program.tests.length > 0)
    })

    for (const test of program.tests)
      it(`${name}: ${test.name}`, async () => {
        const application = await Application.open(program, {path: ':memory:'})
        try {
          const {kind} = await application.call(test, [])
          assert.equal(kind, 'value')
        } finally {
          application.close()
        }
      })
  }

  it('are described', () => {
    const text = readFileSync(projectFile('examples/apps/README.md'), 'utf8')
    assert.deepEqual([...new Set(text.match(/\w+\.svc/g))].sort(), paths.toSorted())
  })
})
