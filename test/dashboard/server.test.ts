import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {createRun, startWorkflowRunner} from '../../src/workflow/engine/index.js'
import {EventStream} from '../support/event-stream.js'
import {assertSelfContained} from '../support/web-page.js'
import {plainPorts, workflow} from '../workflow/support.js'
import {meshToken, startDatabase, startMesh} from './servers.js'
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

  it('answers questions about svc from its documentation, with --read-only, too', async (t) => {
    const {call} = asPage(await openDashboard(t, {isReadOnly: true}))
    const {body} = await call('svc.ask', {question: 'what does port_in_use mean'})
    assert.equal((body.passages as {page: string}[])[0]?.page, 'svc explain port_in_use')
    assert.equal((await call('svc.ask', {question: 'how do I bake bread'})).body.code, 'question_unknown')
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

  it('pages through runs, plans and questions, and shows the journal of a run', async (t) => {
    const opened = await openDashboard(t)
    const {base, other, tasks} = opened
    const {call} = asPage(opened)
    const approval = workflow('steps: [{id: ask, approval: "Ship?"}]', 'release')
    const runs = [1, 2, 3].map(() => createRun(other, approval, {input: {}}).run_id)
    const all = (await call('orch.workflow.list')).body.runs as {run_id: string}[]
    assert.deepEqual(all.map(({run_id: id}) => id).sort(), [...runs].sort())
    const pages: string[] = []
    for (let before = {}, page = all; page.length > 0; before = {before_run_id: pages.at(-1)}) {
      page = (await call('orch.workflow.list', {limit: 1, ...before})).body.runs as {run_id: string}[]
      pages.push(...page.map(({run_id: id}) => id))
    }
    assert.deepEqual(
      pages,
      all.map(({run_id: id}) => id),
    )
    const runner = startWorkflowRunner(other, {ports: plainPorts})
    await runner.stop()
    await call('orch.workflow.signal', {run_id: runs[0], key: 'ask', payload: true})
    const journal = await call('orch.workflow.journal', {run_id: runs[0]})
    const entries = journal.body.entries as {kind: string; subject: string; payload?: unknown}[]
    assert.deepEqual(
      entries.map(({kind, subject}) => [kind, subject]).filter(([kind]) => kind !== 'attempt_started'),
      [
        ['step_started', 'ask'],
        ['signal_received', 'ask'],
      ],
    )
    assert.equal(entries.at(-1)?.payload, true)
    assert.equal((await call('orch.workflow.journal', {run_id: 'wf-none'})).status, 404)

    await base.modules.plans.newPlan(other, {goal: 'Move the importer'})
    const [plan] = (await call('orch.plan.list')).body.plans as {session_id: string}[]
    assert.deepEqual((await call('orch.plan.list', {before_session_id: plan?.session_id})).body.plans, [])
    for (const prompt of ['One?', 'Two?']) tasks.askQuestion(other, {prompt, session_id: 's'})
    const second = (await call('orch.questions.pending', {after_id: 'Q-0001', limit: 1})).body.questions
    assert.deepEqual(
      (second as {question_id: string}[]).map(({question_id: id}) => id),
      ['Q-0002'],
    )
  })

  it('lists the tasks that wait for a task', async (t) => {
    const opened = await openDashboard(t)
    const submit = (depends_on: number[]) =>
      opened.tasks.submitTask(opened.other, {description: 'Build', processor: 'external', depends_on}).task_id
    const first = submit([])
    const waiting = [submit([first]), submit([first])]
    submit([waiting[0] ?? 0])
    const {body} = await asPage(opened).call('orch.list_tasks', {depends_on: first})
    assert.deepEqual(
      (body.tasks as {id: number}[]).map(({id}) => id),
      waiting.toReversed(),
    )
  })

  it('streams when the daemon of the workspace starts or ends', async (t) => {
    const opened = await openDashboard(t)
    const stream = await EventStream.open(`${opened.dashboard.baseUrl}/api/changes`, asPage(opened).headers)
    await stream.received(1)
    opened.tasks.takeLease(opened.other, `host:${process.pid}:test`)
    await stream.received(3)
    // A daemon that is killed leaves no event.
    opened.other.store.run('DELETE FROM orch_leases')
    await stream.received(4)
    assert.deepEqual(stream.events.map(({event}) => event).sort(), ['changes', 'daemon', 'daemon', 'opened'])
    stream.close()
  })

  it('shows and frees the leases of the mesh', async (t) => {
    const {env} = await startMesh(t)
    const opened = await openDashboard(t, {env})
    const {call} = asPage(opened)
    const {body} = await call('mesh.leases')
    const [lease] = body.leases as {lease_id: string; holder_node_id: string}[]
    assert.equal(lease?.holder_node_id, 'desk')
    assert.ok(!JSON.stringify(body).includes(meshToken))
    assert.deepEqual((await call('mesh.revoke_lease', {lease_id: lease?.lease_id})).body, {revoked: true})
    assert.deepEqual((await call('mesh.leases')).body.leases, [])
    const without = asPage(await openDashboard(t))
    assert.equal((await without.call('mesh.leases')).body.code, 'mesh_address_missing')
  })

  it('calls only the endpoints of svc db serve that read in a query', async (t) => {
    const {server, env} = await startDatabase(t)
    const opened = await openDashboard(t, {env})
    const {call} = asPage(opened)
    const {body} = await call('db.describe')
    assert.equal(body.server, server.baseUrl)
    assert.ok(!JSON.stringify(body).includes(env.SVC_APP_TOKEN ?? ''))
    assert.deepEqual((await call('db.change', {endpoint: 'add', arguments: {title: 'Write'}})).body, {result: 1})
    const rows = [{_id: 1, title: 'Write', done: false}]
    assert.deepEqual((await call('db.query', {endpoint: 'list', arguments: {done: false}})).body.result, rows)
    const refused = await call('db.query', {endpoint: 'add', arguments: {title: 'Read'}})
    assert.deepEqual([refused.status, refused.body.code], [400, 'endpoint_writes'])
    assert.equal((await call('db.change', {endpoint: 'ad'})).body.code, 'endpoint_unknown')
    const wrong = await call('db.change', {endpoint: 'add', arguments: {title: ' '}})
    assert.match(String(wrong.body.detail), /a todo needs a title/)
    const readOnly = asPage(await openDashboard(t, {env, isReadOnly: true}))
    assert.equal((await readOnly.call('db.change', {endpoint: 'add'})).body.code, 'dashboard_read_only')
  })
})
