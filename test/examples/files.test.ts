import assert from 'node:assert/strict'
import {dirname} from 'node:path'
import {describe, it} from 'node:test'
import {execa} from 'execa'
import {projectFile} from '../support/project.js'
import {svc} from '../support/svc.js'
import {temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

describe('the examples', () => {
  it('Svc.toml is sound and every key of it is read', async () => {
    const {stdout, exitCode} = await svc(['config', 'check', '--json'], {
      cwd: dirname(projectFile('examples/Svc.toml')),
    })
    assert.deepEqual(JSON.parse(stdout).warnings, [])
    assert.equal(exitCode, 0)
  })

  it('generate.mjs generates through the library', async (test) => {
    const model = await temporaryFolder(test)
    await writeTinyModel(model)
    const example = projectFile('examples/generate.mjs')
    const {stdout, stderr} = await execa(process.execPath, [example, model, 'Hi'])
    assert.ok(stdout.length > 0)
    assert.match(stderr, /100 tokens, ended by length/)
  })
})
