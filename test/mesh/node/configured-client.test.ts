import assert from 'node:assert/strict'
import {mkdir, writeFile} from 'node:fs/promises'
import {dirname} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {meshEnvPath, readMeshEnv, settingTables} from '../../../src/config/index.js'
import {MeshHttpError} from '../../../src/mesh/index.js'
import {configuredClient} from '../../../src/mesh/node/configured-client.js'
import {temporaryFolder} from '../../support/temporary.js'
import {problem, reply, scriptedControlPlane} from '../client/support/scripted-control-plane.js'

/** A control plane that accepts one token, a client and its token file. */
async function machine(t: TestContext) {
  const folder = await temporaryFolder(t)
  const path = meshEnvPath(folder)
  const write = async (text: string) => {
    await mkdir(dirname(path), {recursive: true})
    await writeFile(path, text, {mode: 0o600})
  }
  const shown: unknown[] = []
  const plane = await scriptedControlPlane(t, (response, {headers}) => {
    shown.push(headers.authorization)
    if (headers.authorization === 'Bearer new-token') return reply(response, 200, {schema_version: 1, nodes: []})
    return problem(response, 401, 'unauthorized', {detail: `not ${headers.authorization}`})
  })
  const connect = () => {
    const env = {HOME: folder}
    const envFile = readMeshEnv(folder, env, settingTables)
    const client = configuredClient({env, envFile}, plane.url)
    t.after(() => client.close())
    return client
  }
  return {write, shown, connect, address: `SVC_MESH_CONTROL_ADDR=${plane.url}\n`}
}

const isRefused = (error: unknown) => error instanceof MeshHttpError && error.isStatus(401)

describe('configured client', () => {
  it('reads the token file again when its token is refused', async (t) => {
    const {write, shown, connect, address} = await machine(t)
    await write(`${address}SVC_MESH_TOKEN=old-token\n`)
    const client = connect()
    await assert.rejects(client.listNodes(), isRefused)
    assert.deepEqual(shown, ['Bearer old-token'], 'what has not changed is not tried again')
    await write(`${address}SVC_MESH_TOKEN=new-token\n`)
    assert.deepEqual((await client.listNodes()).nodes, [])
    assert.deepEqual(shown.slice(1), ['Bearer old-token', 'Bearer new-token'])
    await client.listNodes()
    assert.deepEqual(shown.slice(3), ['Bearer new-token'], 'and shows them from then on')
  })

  it('fails after one more attempt if the new tokens are refused, without revealing them', async (t) => {
    const {write, shown, connect, address} = await machine(t)
    await write(`${address}SVC_MESH_TOKEN=canary-of-old\n`)
    const client = connect()
    await write(`${address}SVC_MESH_TOKEN=canary-of-today\n`)
    await assert.rejects(client.listNodes(), (error: Error) => isRefused(error) && !/canary/.test(error.message))
    assert.deepEqual(shown, ['Bearer canary-of-old', 'Bearer canary-of-today'])
    assert.doesNotMatch(client.redact('canary-of-old canary-of-today'), /canary/)
  })

  it('does not send tokens of another control plane', async (t) => {
    const {write, shown, connect, address} = await machine(t)
    await write(`${address}SVC_MESH_TOKEN=old-token\n`)
    const client = connect()
    await write('SVC_MESH_CONTROL_ADDR=http://127.0.0.1:1\nSVC_MESH_TOKEN=new-token\n')
    await assert.rejects(client.listNodes(), isRefused)
    assert.deepEqual(shown, ['Bearer old-token'])
  })
})
