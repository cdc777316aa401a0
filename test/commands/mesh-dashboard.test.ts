import assert from 'node:assert/strict'
import {once} from 'node:events'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import type {MeshDashboardReadyV1} from '../../src/contracts/index.js'
import {EventStream} from '../support/event-stream.js'
import {startMeshServer} from '../support/mesh-server.js'
import {assertFits, orchWorkspace} from '../support/orch-workspace.js'
import {startSvc} from '../support/svc.js'
import {temporaryFolder} from '../support/temporary.js'

const token = 'canary-cmd-8Xkq02LmZr'

async function start(t: TestContext, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const cwd = await temporaryFolder(t)
  const running = startSvc(['mesh', 'dashboard', '--port', '0', '--json', ...args], {cwd, env: {HOME: cwd, ...env}})
  t.after(() => void running.kill('SIGKILL'))
  const [line] = (await once(createInterface({input: running.stdout as NodeJS.ReadableStream}), 'line')) as [string]
  const ready = JSON.parse(line) as MeshDashboardReadyV1
  return {cwd, running, ready, key: new URL(ready.page_url).hash.slice('#token='.length)}
}

describe('svc mesh dashboard', {concurrency: 2}, () => {
  it('serves a page at the printed URL, and exits with status 0 when stopped', async (t) => {
    const server = await startMeshServer(t, {env: {SVC_MESH_TOKEN: token}})
    const {cwd, running, ready, key} = await start(t, ['--control-url', server.baseUrl], {
      SVC_MESH_TOKEN: token,
      SVC_LOG: 'info',
    })
    await assertFits('cli/mesh-dashboard-ready.v1', ready)
    assert.match(ready.page_url, /^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{24}$/)
    assert.equal((await readFile(join(cwd, '.svc', 'mesh', 'dashboard.key'), 'utf8')).trim(), key)
    assert.equal(ready.pid, running.pid)
    const page = await fetch(ready.page_url)
    assert.equal(page.status, 200)
    const stream = await EventStream.open(`${ready.base_url}/api/events`, {authorization: `Bearer ${key}`})
    await stream.received(1)
    const received = (await page.text()) + JSON.stringify(stream.events)
    assert.match(received, /"known":\[\]/)
    running.kill('SIGTERM')
    const ended = await running
    const stderr = String(ended.stderr)
    assert.equal(ended.exitCode, 0, stderr)
    assert.ok(stderr.includes(`Serving the dashboard of ${server.baseUrl} at `), stderr)
    assert.ok(!received.includes(token) && !stderr.includes(token))
    const logged = stderr.split('\n').filter((line) => line.startsWith('{'))
    assert.ok(logged.some((line) => line.includes('/events')) && !logged.some((line) => line.includes(key)))
  })

  it('prints only the URL with --quiet', async (t) => {
    const {start: run} = await orchWorkspace(t, '')
    const dashboard = run(['mesh', 'dashboard', '--port', '0', '--quiet', '--control-url', 'http://127.0.0.1:9'])
    const url = await dashboard.line(1)
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{24}$/)
    assert.equal((await fetch(url)).status, 200)
    assert.equal(await dashboard.end('SIGTERM'), 0)
    assert.deepEqual([dashboard.lines, dashboard.stderr()], [[url], ''])
  })

  it('shows that the control plane is not reachable', async (t) => {
    const {running, ready, key} = await start(t, [], {SVC_ORCHESTRATOR_MESH_CONTROL_URL: 'http://127.0.0.1:9'})
    const stream = await EventStream.open(`${ready.base_url}/api/events`, {authorization: `Bearer ${key}`})
    await stream.received(1)
    assert.match(JSON.stringify(stream.events), /"answers":false,"fault":"Cannot reach http:\/\/127\.0\.0\.1:9/)
    running.kill('SIGINT')
    assert.equal((await running).exitCode, 0)
  })

  it('listens only on loopback addresses, and requires a control plane', async (t) => {
    const {fails} = await orchWorkspace(t, '')
    const url = ['--control-url', 'http://127.0.0.1:9']
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'mesh.example'])
      await fails(['mesh', 'dashboard', '--host', host, ...url], 2, 'flag_value')
    await fails(['mesh', 'dashboard', '--port', '65536', ...url], 2, 'usage')
    await fails(['mesh', 'dashboard'], 2, 'mesh_address_missing')
  })
})
