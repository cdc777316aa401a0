import assert from 'node:assert/strict'
import {readdir, readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {manualPages} from '../../src/cli/manual.js'
import {projectFile} from '../support/project.js'

describe('the manual', () => {
  it('in man/ is what the commands declare (npm run man writes it anew)', async () => {
    const pages = await manualPages()
    assert.deepEqual((await readdir(projectFile('man'))).sort(), pages.map(({file}) => file).sort())
    for (const {file, text} of pages)
      assert.ok((await readFile(projectFile(`man/${file}`), 'utf8')) === text, `man/${file} is stale: npm run man`)
  })

  it('is listed in package.json, so that npm installs every page', async () => {
    const {man} = JSON.parse(await readFile(projectFile('package.json'), 'utf8'))
    assert.deepEqual(man, (await readdir(projectFile('man'))).map((file) => `man/${file}`).sort())
  })

  it('names every command, every flag and every variable', async () => {
    const pages = new Map((await manualPages()).map(({file, text}) => [file, text.replaceAll('\\-', '-')]))
    assert.match(pages.get('svc.1') ?? '', /svc config show/)
    assert.match(pages.get('svc.1') ?? '', /SVC_INFERENCE_URL/)
    assert.match(pages.get('svc-generate.1') ?? '', /--max-tokens/)
    assert.doesNotMatch([...pages.values()].join(''), /undefined|<%/)
  })
})
