import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {EventStream} from '../support/event-stream.js'
import {assertSelfContained} from '../support/web-page.js'
import {asPage, openDashboard} from './support.js'

const status = '/api/call/orch.status'

describe('the server of the dashboard', () => {
  it('sends a document that needs nothing else, and that contains no data', async (t) => {
    const {dashboard} = await openDashboard(t)
    const response = await fetch(dashboard.baseUrl)
    assertSelfContained(await response.text(), response.headers.get('content-security-policy') ?? '')
    assert.deepEqual(await (await fetch(`${dashboard.baseUrl}/health`)).json(), {status: 'ok'})
  })

  it('admits only its page', async (t) => {
    const opened = await openDashboard(t)
    const {headers} = asPage(opened)
    const {authorization: _, ...withoutKey} = headers
    const {origin: __, ...withoutOrigin} = headers
    const cases: [name: string, headers: Record<string, string>, status: number][] = [
      ['the page', headers, 200],
      ['no key', withoutKey, 401],
      ['another key', {...headers, authorization: 'Bearer AAAAAAAAAAAAAAAAAAAAAAAA'}, 401],
      ['no origin', withoutOrigin, 403],
      ['another port', {...headers, origin: 'http://127.0.0.1:1'}, 403],
      ['another site', {...headers, 'sec-fetch-site': 'cross-site'}, 403],
    ]
    for (const [name, sent, expected] of cases) {
      const response = await fetch(opened.dashboard.baseUrl + status, {method: 'POST', headers: sent, body: '{}'})
      assert.equal(response.status, expected, name)
    }
    assert.equal((await fetch(`${opened.dashboard.baseUrl}/api/changes`)).status, 401)
  })

  it('performs the operations of a person', async (t) => {
    const opened = await openDashboard(t)
    const {call} = asPage(opened)
    const {body: submitted} = await call('orch.submit_task', {description: 'Deploy', requires_approval: true})
    assert.equal(submitted.status, 'BlockedOnApproval')
    const {body} = await call('orch.approve_task', {task_id: submitted.task_id})
    assert.equal((body.task as {status: string}).status, 'Queued')
    const approvals = opened.tasks.readEvents(opened.other, {types: ['task_approved']})
    assert.deepEqual(
      approvals.map(({kind}) => (kind as {by?: string}).by),
      [opened.tasks.localUser()],
    )
  })

  it('refuses wrong parameters, and methods that the page does not use', async (t) => {
    const {call} = asPage(await openDashboard(t))
    assert.equal((await call('orch.cancel_task', {task_id: 'x'})).body.code, 'params_invalid')
    assert.equal((await call('orch.cancel_task', {task_id: 7})).status, 404)
    for (const method of ['config.get', 'ai.fix', 'orch.complete_task', 'orch.shutdown'])
      assert.equal((await call(method)).status, 404, method)
  })

  it('changes nothing with --read-only', async (t) => {
    const opened = await openDashboard(t, {isReadOnly: true})
    const {task_id} = opened.tasks.submitTask(opened.other, {description: 'Deploy', processor: 'external'})
    const {headers, call} = asPage(opened)
    const {methods} = (await (await fetch(`${opened.dashboard.baseUrl}/api/methods`, {headers})).json()) as {
      methods: {method: string; effect: string}[]
    }
    assert.ok(methods.length > 0 && methods.every(({effect}) => effect === 'read'))
    const refused = await call('orch.cancel_task', {task_id})
    assert.deepEqual([refused.status, refused.body.code], [403, 'dashboard_read_only'])
    assert.equal(opened.tasks.requireTask(opened.other, task_id).status, 'Queued')
  })

  it('streams the ids of what has changed, and continues where a page was', async (t) => {
    const opened = await openDashboard(t)
    const {headers} = asPage(opened)
    const open = (lastEventId?: string) =>
      EventStream.open(`${opened.dashboard.baseUrl}/api/changes`, {
        ...headers,
        ...(lastEventId === undefined ? {} : {'last-event-id': lastEventId}),
      })
    const submit = () => opened.tasks.submitTask(opened.other, {description: 'Build', processor: 'external'}).task_id
    const first = await open()
    await first.received(1)
    const id = submit()
    await first.received(2)
    const [opening, change] = first.events as unknown as {event: string; data: Record<string, unknown>}[]
    assert.deepEqual([opening?.event, opening?.data], ['opened', {isResumed: false}])
    assert.deepEqual([change?.event, change?.data.task_ids], ['changes', [id]])
    first.close()
    const missed = [submit(), submit()]
    const second = await open(first.lastEventId)
    await second.received(2)
    const [again, later] = second.events as unknown as {data: Record<string, unknown>}[]
    assert.deepEqual([again?.data, later?.data.task_ids], [{isResumed: true}, missed])
    second.close()
  })
})
