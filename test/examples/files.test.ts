import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
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

  it('daemon-client.mjs has a daemon keep a task, and does it', async (test) => {
    const cwd = await temporaryFolder(test)
    assert.equal((await svc(['daemon', 'start'], {cwd})).exitCode, 0)
    try {
      const {stdout} = await execa(process.execPath, [projectFile('examples/daemon-client.mjs')], {
        cwd,
        timeout: 120_000,
      })
      const [greeting, ...told] = stdout.split('\n')
      assert.match(greeting ?? '', /^daemon \S+ at 127\.0\.0\.1:\d+$/)
      assert.deepEqual(told, ['T-0001: task_started', 'T-0001: task_completed'])
    } finally {
      assert.equal((await svc(['daemon', 'stop'], {cwd})).exitCode, 0)
    }
  })

  it('mcp.json starts the tool server', async () => {
    const {mcpServers} = JSON.parse(await readFile(projectFile('examples/mcp.json'), 'utf8'))
    const [name, ...args] = mcpServers.svc.args
    assert.deepEqual([mcpServers.svc.command, name], ['npx', 'svc'])
    // The client goes at once, and the server with it.
    const {exitCode, stdout} = await svc(args, {input: ''})
    assert.deepEqual([exitCode, stdout], [0, ''])
  })
})
