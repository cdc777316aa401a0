import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {projectFile} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'

describe('the preset for a wide-area network', () => {
  for (const side of ['control-plane', 'node'])
    it(`of the ${side} is valid, and every key is a setting`, async () => {
      const cwd = projectFile(`examples/mesh/${side}`)
      const {stdout, exitCode} = await svcInTurn(['config', 'check', '--json'], {cwd})
      assert.deepEqual([exitCode, JSON.parse(stdout).warnings], [0, []])
    })

  it('has the values in the table of the guide', async () => {
    const guide = await readFile(projectFile('docs/mesh.md'), 'utf8')
    const [, table = ''] = guide.split('## Use it over a wide-area network')
    const files = ['control-plane', 'node'].map((side) =>
      readFile(projectFile(`examples/mesh/${side}/Svc.toml`), 'utf8'),
    )
    const settings = (await Promise.all(files)).join('\n')
    const rows = [...table.matchAll(/^\| `(?:mesh|orchestrator)\.(\w+)` \| (\w+) \|/gm)]
    assert.equal(rows.length, 5)
    for (const [, name = '', value = ''] of rows) assert.match(settings, new RegExp(`^${name} = ${value}$`, 'm'), name)
    for (const [, name = '', value = ''] of table.matchAll(/^\| `(SVC_\w+)` \| (\d+) \|/gm))
      assert.ok(settings.includes(`${name}=${value}`), name)
  })
})
