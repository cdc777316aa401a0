import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {Client} from '@modelcontextprotocol/client'
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio'
import {projectFile} from '../support/project.js'
import {svcBinary} from '../support/svc.js'
import {environment, patience, workspace} from './support.js'

const json = async (file: string) => JSON.parse(await readFile(projectFile(file), 'utf8'))

interface Argument {
  type: 'positional' | 'named'
  name?: string
  value?: string
}

describe('server.json', () => {
  it('describes this version of the package, as the registry requires', async () => {
    const {name, description, title, version, packages} = await json('server.json')
    const own = await json('package.json')
    assert.deepEqual([name, version], [own.mcpName, own.version])
    assert.match(name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    assert.ok(name.length <= 200 && description.length <= 100 && title.length <= 100)
    const [{registryType, identifier, version: of, transport}, ...others] = packages
    assert.deepEqual(
      [registryType, identifier, of, transport, others],
      ['npm', own.name, own.version, {type: 'stdio'}, []],
    )
    // npx runs the only program of a package, whatever its name is.
    assert.equal(Object.keys(own.bin).length, 1)
  })

  it('has the arguments that start the server in a workspace', async (test) => {
    const cwd = await workspace(test)
    const {packages, version} = await json('server.json')
    const args = (packages[0].packageArguments as Argument[]).map(({type, name = '', value = ''}) =>
      type === 'named' ? `${name}=${cwd}` : value,
    )
    const client = new Client({name: 'test', version: '1'})
    test.after(() => client.close())
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [svcBinary, ...args],
      cwd: '/',
      env: environment(cwd),
      stderr: 'ignore',
    })
    await client.connect(transport, patience)
    assert.equal(client.getServerVersion()?.version, version)
    await client.callTool({name: 'svc_submit_task', arguments: {description: 'x', processor: 'external'}}, patience)
    assert.match(await readFile(`${cwd}/.svc/store.db`, 'latin1'), /^SQLite format 3/)
  })
})
