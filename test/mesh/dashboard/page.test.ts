import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import type {ConsoleMessage, Page, Request} from 'playwright-core'
import {createMeshClient, startDashboard} from '../../../src/mesh/index.js'
import {seriousFaults} from '../../support/axe.js'
import {skipWithoutChromium, suitePage} from '../../support/chromium.js'
import {askMesh, startMeshServer} from '../../support/mesh-server.js'
import {temporaryFolder} from '../../support/temporary.js'
import {startPlane} from '../control-plane/support/control-plane.js'

const token = 'canary-mesh-Vj29dkL0qpWz'
const hostile = '<img src=x onerror="document.title=\'broken\'">'

const workerToken = 'worker-token-93jd8s7K'

const suite = suitePage(
  "addEventListener('securitypolicyviolation', (e) => console.log('violates ' + e.violatedDirective))",
)

type Server = Parameters<typeof askMesh>[0]

/** Starts a control plane in this process, unless one is given, and fills it with data. */
async function meshWith(t: TestContext, given?: Server) {
  const server = given ?? (await startPlane(t, {secrets: {token, workerToken}}))
  const ask = async (path: string, body: unknown) => {
    const answer = await askMesh(server, `/v1/mesh/${path}`, {token, body})
    assert.ok(answer.status < 300, answer.text)
    return answer.body
  }
  return {
    server,
    join: (id: string, labels: string[] = []) =>
      ask('join', {id, version: '1.2.3', last_seen_unix_ms: 0, capabilities: {cpu_cores: 4, gpu_cuda: true, labels}}),
    heartbeat: (facts: object) => ask('heartbeat', facts),
    leave: (id: string) => ask('leave', {id}),
    lease: (node: string, key: string) => ask('exec/lease/grant', {claimer_node_id: node, scope_key: key}),
    deliver: (kind: string, priority: number) =>
      ask('a2a/deliver', {
        sender_agent_id: '1',
        receiver_agent_id: '2',
        message_type: 'free_form',
        payload: 'hello',
        task_kind: kind,
        priority,
      }),
    nodes: async () => {
      const {body} = await askMesh(server, '/v1/mesh/nodes', {token})
      return new Map<string, {quarantined?: boolean; maintenance_until_unix_ms?: number}>(
        body.nodes.map((node: {id: string}) => [node.id, node]),
      )
    },
    leases: async () => (await askMesh(server, '/v1/mesh/exec/leases', {token})).body.leases as object[],
  }
}

/** Opens the dashboard in a browser and collects its errors and requests. */
async function show(t: TestContext, server: Server, tokens: object = {mesh: token}) {
  const client = createMeshClient({baseUrl: server.baseUrl, tokens})
  const keyPath = join(await temporaryFolder(t), 'dashboard.key')
  const start = (port = 0) =>
    startDashboard({client, address: {host: '127.0.0.1', port}, staleAfterMs: 60_000, keyPath})
  let dashboard = await start()
  const page = await suite()
  const faults: string[] = []
  const requests: Request[] = []
  const onError = ({message}: Error) => void faults.push(message)
  const onConsole = (message: ConsoleMessage) => void faults.push(message.text())
  const onRequest = (request: Request) => void requests.push(request)
  page.on('pageerror', onError).on('console', onConsole).on('request', onRequest)
  t.after(async () => {
    page.off('pageerror', onError).off('console', onConsole).off('request', onRequest)
    // Do not let this dashboard affect the next test.
    await page.goto('about:blank')
    await dashboard.close()
    await client.close()
  })
  await page.goto(dashboard.pageUrl)
  /** Starts the dashboard again at its port. */
  const restart = async () => {
    dashboard = await start(dashboard.port)
  }
  return {page, faults, requests, dashboard, restart}
}

const row = (page: Page, id: string) =>
  page
    .locator('#nodes tbody')
    .getByRole('row')
    .filter({has: page.getByText(id, {exact: true})})

/** Waits until an element shows a text. */
const shows = (page: Page, selector: string, text: string) =>
  page.locator(selector).filter({hasText: text}).waitFor({state: 'visible', timeout: 60_000})

describe('dashboard in a browser', {skip: skipWithoutChromium}, () => {
  it('shows the mesh and updates without a reload', async (t) => {
    const mesh = await meshWith(t)
    const {page, faults, requests, dashboard} = await show(t, mesh.server)
    await shows(page, '#link', 'Connected')
    await shows(page, '#nodes .empty', `svc mesh join --control-url ${mesh.server.baseUrl}`)
    await shows(page, '#leases .empty', 'No active leases.')
    await shows(page, '#queue .empty', 'No pending messages.')

    await mesh.join('rig1', ['pool=train'])
    await mesh.join('rig2')
    await shows(page, '#nodes tbody', 'rig1')
    const {lease_id: lease} = await mesh.lease('rig1', 'task:42')
    await mesh.deliver('text_infer', 200)
    await mesh.deliver('text_infer', 128)
    const rig1 = row(page, 'rig1')
    assert.match((await rig1.textContent()) ?? '', /version 1\.2\.3.*OK.*(just now|ago).*CUDA.*4 cores.*pool=train/)
    await shows(page, '#leases tbody', 'task:42')
    const held = page.locator('#leases tbody tr')
    assert.match((await held.textContent()) ?? '', new RegExp(`^${lease}task:42rig1(2 min|1 min \\d+ s)Revoke$`))
    const tasks = rig1.locator('td').nth(3)
    assert.equal(await tasks.textContent(), '–')
    await mesh.heartbeat({id: 'rig1', running_tasks: 7})
    await tasks.filter({hasText: /^7$/}).waitFor()
    const left = (await held.locator('td').nth(3).textContent()) ?? ''
    await shows(page, '#by-kind', 'text_infer2')
    await shows(page, '#by-priority', '2001')
    assert.equal(await page.locator('#waiting-figure').textContent(), '2')
    assert.equal(await page.locator('#nodes-note').textContent(), 'all OK')
    await held.locator('td').nth(3).filter({hasNotText: left}).waitFor()

    await mesh.leave('rig2')
    await shows(page, '#announcement', 'rig2 left.')
    assert.equal(await row(page, 'rig2').count(), 0)
    assert.deepEqual(faults, [])
    const {origin} = new URL(dashboard.baseUrl)
    for (const request of requests)
      assert.ok(/^data:/.test(request.url()) || request.url().startsWith(origin), request.url())
    assert.equal(requests.filter((request) => request.isNavigationRequest()).length, 1)
    for (const request of requests.filter((each) => each.resourceType() === 'document'))
      assert.ok(!(await (await request.response())?.text())?.includes(token))
    assert.ok(!(await page.content()).includes(token))
  })

  it('quarantines and maintains nodes and revokes leases after a confirmation', async (t) => {
    const mesh = await meshWith(t)
    await mesh.join('rig1')
    await mesh.lease('rig1', 'task:42')
    const {page, faults} = await show(t, mesh.server)
    const press = (name: string) => page.getByRole('button', {name, exact: true}).click()

    await press('Quarantine: rig1')
    await page.getByRole('dialog', {name: 'Put rig1 in quarantine?'}).waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await page.locator('dialog[open]').count(), 0)
    assert.equal((await mesh.nodes()).get('rig1')?.quarantined ?? false, false)

    await press('Quarantine: rig1')
    await press('Quarantine')
    await shows(page, '#nodes tbody .badge', 'Quarantine')
    await shows(page, '#toast', 'rig1 is in quarantine.')
    assert.equal((await mesh.nodes()).get('rig1')?.quarantined, true)
    await press('End quarantine: rig1')
    await press('End quarantine')
    await shows(page, '#nodes tbody .badge', 'OK')
    assert.equal((await mesh.nodes()).get('rig1')?.quarantined ?? false, false)

    // Only with the keyboard.
    await page.getByRole('button', {name: 'Maintenance: rig1'}).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('30')
    await page.keyboard.press('Enter')
    await shows(page, '#nodes tbody .under', '29 min')
    const until = (await mesh.nodes()).get('rig1')?.maintenance_until_unix_ms ?? 0
    assert.ok(Math.abs(until - Date.now() - 30 * 60_000) < 30_000)

    await page.getByRole('button', {name: /^Revoke lease/}).click()
    await press('Revoke lease')
    await shows(page, '#leases .empty', 'No active leases.')
    assert.deepEqual(await mesh.leases(), [])
    assert.deepEqual(faults, [])
  })

  it('retries and drops dead messages after a confirmation', async (t) => {
    let now = Date.now()
    const plane = await startPlane(t, {secrets: {token}, limits: {leaseMs: 1000}, storeTime: () => now})
    const mesh = await meshWith(t, plane)
    await mesh.join('rig1')
    const ids: number[] = []
    for (let i = 0; i < 2; i++) ids.push((await mesh.deliver(hostile, 1)).message_id)
    while ((await plane.store.claim('', {receiver: '2', claimer: 'rig1'})) !== undefined) now += 1000
    const {page, faults} = await show(t, mesh.server)
    const press = (name: string) => page.getByRole('button', {name, exact: true}).click()
    await shows(page, '#dead tbody', `${ids[1]}12free_form`)
    assert.equal(await page.locator('#dead-figure').textContent(), '2')
    await press(`Retry message ${ids[0]}`)
    await press('Retry message')
    await shows(page, '#toast', `Message ${ids[0]} is pending again.`)
    await shows(page, '#waiting-figure', '1')
    await press(`Drop message ${ids[1]}`)
    await press('Drop message')
    await shows(page, '#dead .empty', 'No dead letters.')
    const {pending_count: pending, dead_count: dead} = await plane.store.queueStats('')
    assert.deepEqual([pending, dead, faults], [1, 0, []])
  })

  it('shows why an action failed', async (t) => {
    const mesh = await meshWith(t)
    await mesh.join('rig1')
    const {page} = await show(t, mesh.server)
    await page.getByRole('button', {name: 'Quarantine: rig1'}).click()
    await mesh.leave('rig1')
    await page.getByRole('button', {name: 'Quarantine', exact: true}).click()
    await shows(page, 'dialog .fault', 'Node rig1 does not exist')
    await page.getByRole('button', {name: 'Cancel'}).click()
    assert.equal(await page.locator('dialog[open]').count(), 0)
  })

  it('does not interpret node ids as HTML', async (t) => {
    const mesh = await meshWith(t)
    await mesh.join(hostile, [hostile])
    await mesh.lease(hostile, hostile)
    await mesh.deliver(hostile, 1)
    const {page, faults} = await show(t, mesh.server)
    await shows(page, '#nodes tbody', hostile)
    await shows(page, '#leases tbody', hostile)
    await shows(page, '#by-kind', hostile)
    await page.getByRole('button', {name: `Quarantine: ${hostile}`}).click()
    await page.getByRole('dialog', {name: `Put ${hostile} in quarantine?`}).waitFor()
    await page.getByRole('button', {name: 'Quarantine', exact: true}).click()
    await shows(page, '#toast', `${hostile} is in quarantine.`)
    assert.equal((await mesh.nodes()).get(hostile)?.quarantined, true)
    assert.equal(await page.locator('img').count(), 0)
    assert.equal(await page.title(), 'Mesh')
    assert.deepEqual(faults, [])
  })

  it('filters nodes by state, id and labels', async (t) => {
    const mesh = await meshWith(t)
    for (const id of ['alpha', 'beta', 'gamma']) await mesh.join(id, [`room=${id.length}`])
    await askMesh(mesh.server, '/v1/mesh/admin/quarantine', {token, body: {node_id: 'beta', quarantined: true}})
    const {page} = await show(t, mesh.server)
    await shows(page, '#nodes-note', '2 OK')
    const ids = () => page.locator('#nodes td.id span:first-child').allTextContents()
    assert.deepEqual(await ids(), ['alpha', 'beta', 'gamma'])
    await page.getByRole('button', {name: 'Quarantine 1'}).click()
    assert.deepEqual(await ids(), ['beta'])
    await page.getByRole('button', {name: 'All 3'}).click()
    await page.getByRole('searchbox').fill('ROOM=5')
    assert.deepEqual(await ids(), ['alpha', 'gamma'])
    await page.getByRole('searchbox').fill('room=5 gam')
    assert.deepEqual(await ids(), ['gamma'])
    await page.getByRole('searchbox').fill('zeta')
    await shows(page, '#nodes .empty', 'No nodes match the filter.')
  })

  it('shows a worker token only permitted parts', async (t) => {
    const mesh = await meshWith(t)
    await mesh.join('rig1')
    const {page, faults} = await show(t, mesh.server, {worker: workerToken})
    await shows(page, '#nodes tbody', 'rig1')
    await shows(page, '#leases .empty', 'Not allowed')
    assert.equal(await page.getByRole('button', {name: /Quarantine:/}).count(), 0)
    assert.deepEqual(faults, [])
  })

  it('fits a phone, in dark mode, with reduced motion', async (t) => {
    const mesh = await meshWith(t)
    await mesh.join('a-node-with-a-name-that-is-far-longer-than-any-phone-is-wide-and-has-no-space', [
      'label='.repeat(20),
    ])
    await mesh.lease(
      'a-node-with-a-name-that-is-far-longer-than-any-phone-is-wide-and-has-no-space',
      'task:'.repeat(40),
    )
    await mesh.deliver('kind_'.repeat(12), 7)
    const phone = await suite()
    const size = phone.viewportSize()
    t.after(async () => {
      await phone.emulateMedia({colorScheme: null, reducedMotion: null})
      if (size !== null) await phone.setViewportSize(size)
    })
    await phone.setViewportSize({width: 360, height: 740})
    await phone.emulateMedia({colorScheme: 'dark', reducedMotion: 'reduce'})
    const {page} = await show(t, mesh.server)
    await shows(page, '#leases tbody', 'task:')
    await shows(page, '#by-kind', 'kind_')
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    const wide = await page.evaluate(
      `[...document.querySelectorAll('body *')].filter((each) => !each.closest('.unseen, thead') && each.getBoundingClientRect().right > 360.5).map((each) => each.outerHTML.slice(0, 80))`,
    )
    assert.deepEqual(wide, [])
    assert.deepEqual(await seriousFaults(page), [])
    assert.equal(await page.evaluate("getComputedStyle(document.querySelector('#nodes tbody tr')).display"), 'flex')
    const [ground, animation] = (await page.evaluate(
      `[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.panel')).transitionDuration]`,
    )) as string[]
    assert.match(ground ?? '', /^rgb\((\d|1\d|2\d), /)
    assert.equal(animation, '0s')
    await page.getByRole('button', {name: /^Maintenance:/}).click()
    const box = await page.locator('dialog').boundingBox()
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 360)
  })

  it('connects only while the page is visible', async (t) => {
    const mesh = await meshWith(t)
    const {page} = await show(t, mesh.server)
    await shows(page, '#nodes .empty', 'No nodes have joined.')
    const turn = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', {configurable: true, get: () => ${isHidden}}); document.dispatchEvent(new Event('visibilitychange'))`,
      )
    const isStream = (request: Request) => request.url().endsWith('/events')
    await Promise.all([page.waitForEvent('requestfailed', isStream), turn(true)])
    await mesh.join('rig1')
    await Promise.all([page.waitForRequest(isStream), turn(false)])
    await shows(page, '#nodes tbody', 'rig1')
  })

  it('says that the control plane was killed, or the dashboard ended, and continues when they run again', async (t) => {
    const env = {SVC_MESH_TOKEN: token}
    const server = await startMeshServer(t, {env})
    const mesh = await meshWith(t, server)
    await mesh.join('rig1')
    const {page, dashboard, restart} = await show(t, server)
    await shows(page, '#nodes tbody', 'rig1')
    const {folder, baseUrl} = server
    const {port} = new URL(baseUrl)
    await server.stop('SIGKILL')
    await shows(page, '#link', 'Control plane not reachable')
    await shows(page, '#banner', 'Last response at')
    assert.equal(await row(page, 'rig1').isVisible(), true)
    assert.equal(await page.title(), 'Mesh · not reachable')
    const again = await meshWith(t, await startMeshServer(t, {env, folder, port: Number(port)}))
    await again.join('rig2')
    await shows(page, '#nodes tbody', 'rig2')
    await shows(page, '#link', 'Connected')
    await dashboard.close()
    await shows(page, '#link', 'Dashboard not reachable')
    await shows(page, '#banner', 'svc mesh dashboard')
    await again.join('rig3')
    await restart()
    await shows(page, '#nodes tbody', 'rig3')
    await shows(page, '#link', 'Connected')
  })
})
