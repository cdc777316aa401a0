import assert from 'node:assert/strict'
import {once} from 'node:events'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {readConfigFile} from '../../src/config/index.js'
import {modelRegistry, probeEndpoint, resolveEndpoint} from '../../src/inference-client/index.js'
import {startServer} from '../support/server.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

describe('resolveEndpoint', () => {
  const mesh = {SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL: 'http://mesh:4'}
  const cases: readonly [string, string | undefined, Record<string, string>, string][] = [
    ['defaults to svc serve', undefined, {}, 'http://127.0.0.1:11435'],
    ['uses the URL of the mesh', undefined, mesh, 'http://mesh:4'],
    ['prefers SVC_LOCAL_SERVER_URL', undefined, {...mesh, SVC_LOCAL_SERVER_URL: 'http://other:3'}, 'http://other:3'],
    [
      'prefers SVC_INFERENCE_URL over all other variables',
      undefined,
      {...mesh, SVC_LOCAL_SERVER_URL: 'http://other:3', SVC_INFERENCE_URL: 'http://own:2'},
      'http://own:2',
    ],
    ['prefers an explicit URL', 'given:1/v1/', {SVC_INFERENCE_URL: 'http://own:2'}, 'http://given:1'],
    [
      'ignores a blank variable',
      undefined,
      {SVC_INFERENCE_URL: '  ', SVC_LOCAL_SERVER_URL: ''},
      'http://127.0.0.1:11435',
    ],
    ['removes /v1 and /api', undefined, {SVC_INFERENCE_URL: 'localhost:9/api/'}, 'http://localhost:9'],
    ['replaces 0.0.0.0 by loopback', undefined, {SVC_INFERENCE_URL: 'http://0.0.0.0:9'}, 'http://127.0.0.1:9'],
  ]
  for (const [name, url, env, expected] of cases)
    it(name, () => assert.equal(resolveEndpoint({env}, url === undefined ? {} : {url}).endpoint.baseUrl, expected))

  it('reads the workspace file, and warns about an invalid variable', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {'Svc.toml': '[mesh]\ninference_base_url = "http://file:5"\n'})
    const file = await readConfigFile(join(folder, 'Svc.toml'))
    const {endpoint, warnings} = resolveEndpoint({env: {SVC_INFERENCE_URL: 'ftp://x'}, file})
    assert.equal(endpoint.baseUrl, 'http://file:5')
    assert.deepEqual(
      warnings.map(({subject}) => subject),
      ['SVC_INFERENCE_URL'],
    )
  })
})

describe('modelRegistry', () => {
  const endpoint = (model: string) => resolveEndpoint({env: {SVC_INFERENCE_MODEL: model}}).endpoint

  it('contains the configured local model', () => {
    const [entry, ...more] = modelRegistry(endpoint(' my-run '))
    assert.deepEqual(entry, {
      id: 'my-run',
      slug: 'local/my-run',
      provider: 'local',
      tier: 'local',
      cost: 0,
      maxTokens: 4096,
      baseUrl: 'http://127.0.0.1:11435',
    })
    assert.deepEqual(more, [])
  })

  it('replaces the placeholder by the served models, and adds them to a configured one', () => {
    const ids = (model: string, served: string[]) => modelRegistry(endpoint(model), served).map(({id}) => id)
    assert.deepEqual(ids('', []), ['default-model'])
    assert.deepEqual(ids('', ['a', 'b']), ['a', 'b'])
    assert.deepEqual(ids('a', ['a', 'b']), ['a', 'b'])
    assert.deepEqual(ids('c', ['a']), ['c', 'a'])
  })
})

describe('probeEndpoint', () => {
  it('finds svc serve and its model, without a GPU', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(folder)
    const server = await startServer(['--model', folder, '--model-name', 'tiny'], {env: {KEY: 'sesame-key'}})
    test.after(() => server.stop())
    const probe = (model: string) =>
      probeEndpoint(resolveEndpoint({env: {SVC_INFERENCE_URL: server.baseUrl, SVC_INFERENCE_MODEL: model}}).endpoint)
    assert.deepEqual(await probe('tiny'), {reachable: true, models: ['tiny'], model: 'tiny', gpu: undefined})
    assert.equal((await probe('')).model, 'tiny')
    assert.equal((await probe('another')).model, undefined)
  })

  it('selects no model if none is configured and the server has several', async (test) => {
    const models = [{name: 'a'}, {name: 'b'}]
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(request.url === '/api/tags' ? {models} : {version: '1'}))
    }).listen(0, '127.0.0.1')
    test.after(() => server.close())
    await once(server, 'listening')
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const probe = (model: string) =>
      probeEndpoint(resolveEndpoint({env: {SVC_INFERENCE_URL: baseUrl, SVC_INFERENCE_MODEL: model}}).endpoint)
    assert.deepEqual(await probe(''), {reachable: true, models: ['a', 'b'], model: undefined, gpu: undefined})
    assert.equal((await probe('b')).model, 'b')
  })

  it('reports why a server is not reachable', async () => {
    const {endpoint} = resolveEndpoint({env: {SVC_INFERENCE_URL: 'http://127.0.0.1:9'}})
    const {reachable, reason} = await probeEndpoint(endpoint)
    assert.equal(reachable, false)
    assert.match(reason ?? '', /127\.0\.0\.1:9.*connection refused/)
  })
})
