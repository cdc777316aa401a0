import assert from 'node:assert/strict'
import {readdirSync} from 'node:fs'
import {describe, it} from 'node:test'
import {pathToFileURL} from 'node:url'
import {projectFile} from '../support/project.js'
import {bundledProgram} from './bundled-threads.js'

describe('the threads of tests', () => {
  it('run the programs of the bundle', () => {
    const programs = ['llm/worker', 'llm/prompt-worker', 'speech/engine/worker', 'tasks/evidence/thread']
    const bundled = readdirSync(projectFile('dist/bundle/programs'))
    for (const program of programs) {
      const name = `${program.replaceAll('/', '-')}.js`
      assert.ok(bundled.includes(name), name)
      const url = pathToFileURL(projectFile(`dist/src/${program}.js`))
      assert.equal(bundledProgram(url), projectFile(`dist/bundle/programs/${name}`))
    }
  })

  it('run other programs as they are', () => {
    const own = new URL(import.meta.url)
    assert.equal(bundledProgram(own), own)
    assert.equal(bundledProgram('postMessage(1)'), 'postMessage(1)')
  })
})
