import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {ProtocolError, ProtocolErrorCode} from '@modelcontextprotocol/client'
import {until} from '../support/orch-workspace.js'
import {envelope, newest, prefix, type Sent, sendModern as send} from './modern.js'
import {connect, once, startHttp, workspace} from './support.js'

describe(`protocol ${newest} over HTTP`, {concurrency: 2}, () => {
  const server = once(async (test) => startHttp(test, {cwd: await workspace(test)}))

  it('describes the server without a session', async () => {
    const {url} = await server()
    const {status, headers, body} = await send(url, 'server/discover')
    const {supportedVersions, capabilities, resultType, _meta: meta} = body.result ?? {}
    assert.deepEqual([status, headers.get('mcp-session-id'), resultType], [200, null, 'complete'])
    assert.deepEqual(supportedVersions, [newest])
    assert.ok('tools' in (capabilities as object) && 'resources' in (capabilities as object))
    assert.equal((meta as Record<string, {name: string}>)[`${prefix}/serverInfo`]?.name, 'svc-mcp')
  })

  it('answers each request on its own and tells how long lists may be cached', async () => {
    const {url} = await server()
    const {body} = await send(url, 'tools/list')
    assert.deepEqual([body.result?.ttlMs, body.result?.cacheScope], [300_000, 'public'])
    const called = await send(url, 'tools/call', {params: {name: 'svc_orchestrator_status', arguments: {}}})
    assert.deepEqual([called.status, called.body.result?.isError], [200, false])
  })

  for (const [what, method, sent, status, code] of [
    ['an unknown revision', 'tools/list', {meta: envelope({[`${prefix}/protocolVersion`]: '2099-01-01'})}, 400, -32022],
    ['other headers than its body', 'tools/list', {headers: {'mcp-method': 'tools/call'}}, 400, -32020],
    ['no capabilities', 'tools/list', {meta: {[`${prefix}/protocolVersion`]: newest}}, 400, -32602],
    ['a method of earlier revisions', 'logging/setLevel', {params: {level: 'info'}}, 404, -32601],
    ['an unknown state', 'tools/call', {params: {name: 'svc_doubt_task', requestState: 'x'}}, 200, -32602],
  ] as const)
    it(`rejects a request with ${what}`, async () => {
      const {url} = await server()
      const meta = (sent as Sent).meta ?? envelope()
      const headers = what === 'an unknown revision' ? {'mcp-protocol-version': '2099-01-01'} : {}
      const reply = await send(url, method, {headers, ...(sent as Sent), meta})
      assert.deepEqual([reply.status, reply.body.error?.code], [status, code], JSON.stringify(reply.body))
    })

  it('requires the token and an own origin', async (t) => {
    const env = {SVC_MCP_HTTP_BEARER_TOKEN: 'a-token-of-the-tests'}
    const {url} = await startHttp(t, {cwd: await workspace(t), env})
    assert.equal((await send(url, 'tools/list')).status, 401)
    const headers = {authorization: 'Bearer a-token-of-the-tests'}
    assert.equal((await send(url, 'tools/list', {headers})).status, 200)
    assert.equal((await send(url, 'tools/list', {headers: {...headers, origin: 'https://evil.example'}})).status, 403)
  })
})

for (const transport of ['standard input and output', 'HTTP'] as const)
  describe(`protocol ${newest} over ${transport}`, () => {
    const open = once(async (test) => {
      const cwd = await workspace(test)
      if (transport === 'HTTP') return (await startHttp(test, {cwd})).connect({revision: newest})
      return connect(test, {cwd, revision: newest})
    })

    it('notifies a client that listens, until it stops', async () => {
      const {client, call} = await open()
      const updated: string[] = []
      let lists = 0
      client.setNotificationHandler('notifications/resources/updated', ({params}) => void updated.push(params.uri))
      client.setNotificationHandler('notifications/resources/list_changed', () => void lists++)
      await call('svc_submit_task', {description: 'one', files: []})
      const listening = await client.listen({resourceSubscriptions: ['svc://tasks/T-0001'], resourcesListChanged: true})
      assert.deepEqual(listening.honoredFilter, {
        resourceSubscriptions: ['svc://tasks/T-0001'],
        resourcesListChanged: true,
      })
      await call('svc_doubt_task', {task_id: 1})
      await call('svc_submit_task', {description: 'two', files: []})
      await until(() => updated.length > 0 && lists > 0, 'the client is notified')
      assert.deepEqual([...new Set(updated)], ['svc://tasks/T-0001'])
      await listening.close()
      const other = await client.listen({resourceSubscriptions: ['svc://tasks/2']})
      updated.length = 0
      await call('svc_cancel_task', {task_id: 1})
      await call('svc_cancel_task', {task_id: 2})
      await until(() => updated.length > 0, 'the later change is reported')
      assert.deepEqual([...new Set(updated)], ['svc://tasks/2'])
      await other.close()
    })

    it('reads resources and prompts', async () => {
      const {client} = await open()
      const {resources} = await client.listResources()
      assert.equal(resources[0]?.uri, 'svc://tasks')
      assert.ok((await client.listPrompts()).prompts.length > 0)
      await assert.rejects(
        client.readResource({uri: 'svc://tasks/4242'}),
        (error) => error instanceof ProtocolError && error.code === ProtocolErrorCode.InvalidParams,
      )
    })
  })
