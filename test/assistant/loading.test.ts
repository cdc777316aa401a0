import assert from 'node:assert/strict'
import {readdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {pathToFileURL} from 'node:url'
import {execa} from 'execa'
import {packagesLoadedBy} from '../support/loads.js'
import {projectFile} from '../support/project.js'
import {temporaryFolder} from '../support/temporary.js'

describe('the public API of the assistant', () => {
  it('loads neither the inference client nor the store, because the CLI needs only its tables', async (test) => {
    const module = pathToFileURL(projectFile('dist/src/assistant/index.js')).href
    const program = `process.stdout.write((await import(${JSON.stringify(module)})).assistantFragment.name)`
    const packages = await packagesLoadedBy(await temporaryFolder(test), async (env) => {
      const {stdout} = await execa(process.execPath, ['--input-type=module', '--eval', program], {env, timeout: 60_000})
      assert.equal(stdout, 'assistant')
    })
    for (const heavy of ['undici', 'better-sqlite3', 'ajv', 'fastify']) assert.ok(!packages.has(heavy), heavy)
  })

  it('loads only the modules that define its tables', async (test) => {
    const folder = await temporaryFolder(test)
    const module = pathToFileURL(projectFile('dist/src/assistant/index.js')).href
    const program = `await import(${JSON.stringify(module)})`
    await execa(process.execPath, ['--input-type=module', '--eval', program], {
      env: {NODE_V8_COVERAGE: folder},
      timeout: 60_000,
    })
    const [report = ''] = await readdir(folder)
    const {result} = JSON.parse(await readFile(join(folder, report), 'utf8')) as {result: {url: string}[]}
    const folderUrl = new URL('.', module).href
    const loaded = result.flatMap(({url}) => (url.startsWith(folderUrl) ? [url.slice(folderUrl.length)] : []))
    assert.deepEqual(loaded.sort(), [
      'assistant.js',
      'chat/conversations.js',
      'chat/journey.js',
      'index.js',
      'schema.js',
    ])
  })
})
