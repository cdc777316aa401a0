import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import type {Page} from 'playwright-core'
import {createRun, startWorkflowRunner} from '../../src/workflow/engine/index.js'
import {seriousFaults} from '../support/axe.js'
import {skipWithoutChromium, suitePage} from '../support/chromium.js'
import {askMesh, startMeshServer} from '../support/mesh-server.js'
import {orchWorkspace} from '../support/orch-workspace.js'
import {plainPorts, workflow} from '../workflow/support.js'
import {startDatabase, startMesh, startModels} from './servers.js'
import {type OpenDashboard, openDashboard, watchFaults} from './support.js'

const hostile = '<img src=x onerror="document.title=\'broken\'">'
const longWord = 'a-name-that-is-far-longer-than-any-phone-is-wide-and-that-has-no-space-in-it'.repeat(2)

const suite = suitePage(
  "addEventListener('securitypolicyviolation', (e) => console.log('violates ' + e.violatedDirective))",
)

/** Opens a dashboard in the browser and collects its errors. */
async function show(t: TestContext, {dashboard}: Pick<OpenDashboard, 'dashboard'>) {
  const page = await suite()
  const {faults, stop} = watchFaults(page)
  t.after(async () => {
    stop()
    // Do not let this dashboard affect the next test.
    await page.goto('about:blank')
  })
  await page.goto(dashboard.pageUrl)
  await page.locator('#view h2').waitFor()
  return {page, faults}
}

const go = async (page: Page, view: string) => {
  await page.evaluate(`location.hash = ${JSON.stringify(view)}`)
  await page.locator('#view').filter({hasNotText: 'Loading'}).waitFor()
}

/** Waits until an element shows a text. */
const shows = (page: Page, selector: string, text: string | RegExp) =>
  page.locator(selector).filter({hasText: text}).first().waitFor({state: 'visible', timeout: 60_000})

const rowOf = (page: Page, task: string) =>
  page.getByRole('row').filter({has: page.getByRole('link', {name: task, exact: true})})

/** Presses a button of the view, then the one of the dialog, which has the same words. */
async function confirm(page: Page, words: string, fill: (dialog: ReturnType<Page['getByRole']>) => Promise<void>) {
  await page.locator('#view').getByRole('button', {name: words, exact: true}).first().click()
  const dialog = page.getByRole('dialog')
  await fill(dialog)
  await dialog.getByRole('button', {name: words, exact: true}).click()
  await dialog.waitFor({state: 'hidden'})
}

const nothing = async () => undefined

/** Adds a row to a served database, as another client. */
async function addTodo({server, env}: Awaited<ReturnType<typeof startDatabase>>, title: string) {
  const answer = await server.post('/api/mutation/add', {title}, {authorization: `Bearer ${env.SVC_APP_TOKEN}`})
  assert.equal(answer.status, 200)
}

/** A workspace with an object of each kind. @returns the views */
async function fillWorkspace({base, other, tasks}: OpenDashboard): Promise<string[]> {
  const {modules} = base
  tasks.submitTask(other, {description: `Build ${longWord}`, processor: 'external'})
  tasks.submitTask(other, {description: 'Deploy', processor: 'external', depends_on: [1], requires_approval: true})
  const {run_id} = createRun(other, workflow(`steps: [{id: ask, approval: "Ship ${longWord}?"}]`, 'release'), {
    input: {},
  })
  const runner = startWorkflowRunner(other, {ports: plainPorts})
  await runner.stop()
  const plan = await modules.plans.newPlan(other, {goal: `Move the importer, ${longWord}`})
  tasks.askQuestion(other, {prompt: `Which database, ${longWord}?`, session_id: 's1'})
  return [
    '#/tasks',
    '#/tasks/1',
    '#/tasks/2',
    '#/runs',
    `#/runs/${run_id}`,
    '#/plans',
    `#/plans/${plan.session_id}`,
    '#/questions',
    '#/agents',
    '#/mesh',
    '#/models',
    '#/tables',
    '#/tables/list',
    '#/help?question=delete+a+model',
  ]
}

/** A dashboard with a mesh, a server with a loaded model, and a served database. */
async function openWithServers(t: TestContext, isReadOnly = false) {
  const [mesh, models, database] = await Promise.all([startMesh(t), startModels(t), startDatabase(t)])
  const env = {...mesh.env, ...models.env, ...database.env}
  const opened = await openDashboard(t, {env, isReadOnly})
  return {opened, mesh, models, database}
}

describe('svc dashboard in a browser', {skip: skipWithoutChromium}, () => {
  it('lists tasks and shows their changes without a reload', async (t) => {
    const opened = await openDashboard(t)
    const {tasks, other} = opened
    const {page, faults} = await show(t, opened)
    await shows(page, '.empty', 'No tasks.')
    await shows(page, '#link', 'No daemon')
    const {task_id: first} = tasks.submitTask(other, {description: 'Write the report', processor: 'external'})
    await shows(page, 'tr', /T-0001Write the reportQueued/)
    tasks.submitTask(other, {description: hostile, processor: 'external'})
    await shows(page, 'tr', hostile)
    tasks.cancelTask(other, first, {by: 'person'})
    await rowOf(page, 'T-0001').filter({hasText: 'Cancelled'}).waitFor()
    await shows(page, '.chip', 'Cancelled 1')
    assert.equal(await page.getByRole('link', {name: /^T-/}).count(), 2)
    assert.equal(await page.title(), 'Tasks · Workspace')
    assert.equal(await page.locator('img').count(), 0)
    assert.ok(!page.url().includes('token'), page.url())
    assert.deepEqual(faults, [])
  })

  it('loads more tasks while the user scrolls, and filters them', async (t) => {
    const opened = await openDashboard(t)
    const {tasks, other} = opened
    tasks.submitBatch(
      other,
      Array.from({length: 400}, (_, i) => ({description: `Part ${i + 1}`, processor: 'external' as const})),
    )
    tasks.cancelTask(other, 3, {by: 'person'})
    const {page, faults} = await show(t, opened)
    await shows(page, 'tr', 'Part 400')
    assert.ok((await page.getByRole('row').count()) < 200)
    while ((await rowOf(page, 'T-0001').count()) === 0) await page.mouse.wheel(0, 4000)
    await rowOf(page, 'T-0001').waitFor()
    // What is far from the visible part is not kept.
    assert.ok((await page.getByRole('row').count()) < 300)
    tasks.cancelTask(other, 2, {by: 'person'})
    await rowOf(page, 'T-0002').filter({hasText: 'Cancelled'}).waitFor()
    await page.locator('.chip').filter({hasText: 'Cancelled'}).focus()
    await page.keyboard.press('Enter')
    await rowOf(page, 'T-0003').waitFor()
    assert.match((await page.locator('.chip:focus').textContent()) ?? '', /^Cancelled/)
    assert.equal(await page.getByRole('link', {name: /^T-/}).count(), 2)
    tasks.cancelTask(other, 5, {by: 'person'})
    await rowOf(page, 'T-0005').waitFor()
    assert.deepEqual(await page.getByRole('link', {name: /^T-/}).allTextContents(), ['T-0005', 'T-0003', 'T-0002'])
    assert.deepEqual(faults, [])
  })

  it('submits, approves, cancels and retries a task on behalf of the person', async (t) => {
    const opened = await openDashboard(t)
    const {tasks, other} = opened
    const {page, faults} = await show(t, opened)
    await page.getByRole('button', {name: 'New task'}).click()
    const dialog = page.getByRole('dialog', {name: 'New task'})
    await dialog.getByLabel('Description').fill('Deploy the importer')
    await dialog.getByLabel('Files').fill('src/importer.ts\nREADME.md:read')
    await dialog.getByLabel('Priority').selectOption('urgent')
    await dialog.getByLabel('Requires approval').check()
    await dialog.getByRole('button', {name: 'Submit'}).click()
    await page.getByRole('link', {name: 'T-0001'}).click()
    await shows(page, '.badge', 'Needs approval')
    const {file_manifest: files, priority} = tasks.requireTask(other, 1)
    assert.deepEqual(
      [files.map(({path, access}) => [path, access]), priority],
      [
        [
          ['src/importer.ts', 'write'],
          ['README.md', 'read'],
        ],
        'urgent',
      ],
    )
    await confirm(page, 'Approve', nothing)
    await shows(page, '.badge', 'Queued')
    const [approval] = tasks.readEvents(other, {types: ['task_approved']})
    assert.equal(approval?.kind.type === 'task_approved' && approval.kind.by, tasks.localUser())
    await confirm(page, 'Cancel task', async (dialog) => dialog.getByLabel('Reason').fill('Not today'))
    await shows(page, '.badge', 'Cancelled')
    await shows(page, '#view', 'Not today')
    await confirm(page, 'Retry', nothing)
    await shows(page, '.badge', 'Queued')
    assert.equal(tasks.requireTask(other, 1).status, 'Queued')
    assert.deepEqual(faults, [])
  })

  it('shows what a task waits for and what waits for it, also indirectly, and their changes', async (t) => {
    const opened = await openDashboard(t)
    const {tasks, other} = opened
    for (const [description, ...depends_on] of [
      ['Fetch'],
      ['Check', 1],
      ['Deploy', 2],
      ['Watch', 3],
      ['Announce', 3, 4],
    ] as [string, ...number[]][])
      tasks.submitTask(other, {description, processor: 'external', depends_on})
    const {page, faults} = await show(t, opened)
    await go(page, '#/tasks/3')
    const trees = page.locator('.tree')
    await trees.first().waitFor()
    assert.deepEqual(await trees.allInnerTexts(), [
      'T-0002 Blocked Check\nT-0001 Queued Fetch',
      'T-0004 Blocked Watch\nT-0005 Blocked Announce\nT-0005 Blocked Announce',
    ])
    tasks.cancelTask(other, 1, {by: 'person'})
    await shows(page, '.tree', 'T-0001 Cancelled Fetch')
    assert.deepEqual(faults, [])
  })

  it('executes a plan', async (t) => {
    const opened = await openDashboard(t)
    const {base, other, tasks} = opened
    const plan = await base.modules.plans.newPlan(other, {goal: 'Move the importer; tell the customers'})
    const {page, faults} = await show(t, opened)
    await go(page, `#/plans/${plan.session_id}`)
    await confirm(page, 'Execute', nothing)
    await page.getByRole('link', {name: 'T-0001'}).waitFor()
    assert.equal(tasks.listTasks(other).length, 1)
    assert.deepEqual(faults, [])
  })

  it('shows why an operation failed, and changes nothing if the dialog is closed', async (t) => {
    const opened = await openDashboard(t)
    const {tasks, other} = opened
    tasks.submitTask(other, {description: 'Build', processor: 'external'})
    const {page} = await show(t, opened)
    await go(page, '#/tasks/1')
    await page.getByRole('button', {name: 'Cancel task'}).click()
    await page.keyboard.press('Escape')
    assert.equal(await page.getByRole('dialog').count(), 0)
    assert.equal(tasks.requireTask(other, 1).status, 'Queued')
    await go(page, '#/tasks/7')
    await shows(page, '#fault', 'T-0007')
  })

  it('decides on the approval of a workflow run, and answers a question', async (t) => {
    const opened = await openDashboard(t)
    const {base, other, tasks} = opened
    await fillWorkspace(opened)
    const {page, faults} = await show(t, opened)
    await go(page, '#/runs')
    await page.getByRole('link', {name: /^wf-release/}).click()
    await confirm(page, 'Approve', nothing)
    const runner = startWorkflowRunner(other, {ports: plainPorts})
    opened.closers.push(() => runner.stop())
    await shows(page, '.badge', 'completed')
    assert.equal(base.modules.workflows.listRuns(other)[0]?.status, 'completed')
    await go(page, '#/questions')
    await page.getByRole('button', {name: 'Answer Q-0001'}).click()
    await page.getByRole('dialog').getByLabel('Answer').fill('staging')
    await page.getByRole('dialog').getByRole('button', {name: 'Answer'}).click()
    await shows(page, '.empty', 'No questions wait for an answer.')
    assert.deepEqual(
      tasks.pendingQuestions(other, {answered: true}).map(({answer}) => answer),
      ['staging'],
    )
    assert.deepEqual(faults, [])
  })

  it('fits a desktop and a phone, light and dark, without serious faults for screen readers', async (t) => {
    const {opened, database} = await openWithServers(t)
    await addTodo(database, `Write ${longWord}`)
    const views = await fillWorkspace(opened)
    const phone = await suite()
    const size = phone.viewportSize()
    t.after(async () => {
      await phone.emulateMedia({colorScheme: null})
      if (size !== null) await phone.setViewportSize(size)
    })
    const {page, faults} = await show(t, opened)
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewportSize({width, height: 844})
      await page.emulateMedia({colorScheme, reducedMotion: 'reduce'})
      for (const view of views) {
        await go(page, view)
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, view)
        assert.deepEqual(await seriousFaults(page), [], `${view} ${width}`)
      }
    }
    assert.deepEqual(faults, [])
  })

  it('has no buttons with --read-only', async (t) => {
    const {opened, database} = await openWithServers(t, true)
    await addTodo(database, 'Write')
    const views = await fillWorkspace(opened)
    const {page} = await show(t, opened)
    for (const view of views) {
      await go(page, view)
      const others = view === '#/tables/list' ? ['Filter'] : view.startsWith('#/help') ? ['Search'] : []
      assert.deepEqual(await page.getByRole('button').allTextContents(), others, view)
    }
  })

  it('answers a question about svc, or says that it does not know', async (t) => {
    const {page, faults} = await show(t, await openDashboard(t))
    await go(page, '#/help')
    const field = page.getByLabel('Question about svc')
    await field.fill('how do I delete a model')
    await field.press('Enter')
    await shows(page, '#view h3', 'Models › Delete a model')
    await shows(page, '#view pre', 'svc rm Qwen/Qwen2.5-0.5B-Instruct')
    await shows(page, '#view p', 'docs/models.md')
    await page.getByLabel('Question about svc').fill('how do I bake bread')
    await page.getByRole('button', {name: 'Search'}).click()
    await shows(page, '#view p', 'I do not know')
    assert.deepEqual(
      faults.filter((fault) => !fault.includes('404')),
      [],
    )
  })

  it('says that the server is not reachable, and continues when it runs again', async (t) => {
    const opened = await openDashboard(t)
    const {dashboard, start, tasks, other} = opened
    const {page} = await show(t, opened)
    await shows(page, '#link', 'No daemon')
    await dashboard.close()
    await shows(page, '#link', 'Not reachable')
    await shows(page, '#banner', 'The connection to svc dashboard is lost.')
    tasks.submitTask(other, {description: 'Written meanwhile', processor: 'external'})
    await start(dashboard.port)
    await shows(page, 'tr', 'Written meanwhile')
    await shows(page, '#link', 'No daemon')
  })

  it('lists loaded models, and unloads one', async (t) => {
    const {env} = await startModels(t)
    const {page, faults} = await show(t, await openDashboard(t, {env}))
    await go(page, '#/models')
    await shows(page, 'tr', /tiny\d+ MB1,024/)
    await page.getByRole('button', {name: 'Unload tiny'}).click()
    await page.getByRole('dialog').getByRole('button', {name: 'Unload'}).click()
    await shows(page, '.empty', 'No model is loaded.')
    assert.deepEqual(faults, [])
  })

  it('shows nodes and leases of the mesh, and revokes a lease', async (t) => {
    const {env} = await startMesh(t)
    const {page, faults} = await show(t, await openDashboard(t, {env}))
    await go(page, '#/mesh')
    await shows(page, 'tr', /desk.*linux/)
    await page.getByRole('button', {name: /^Revoke lease/}).click()
    await page.getByRole('dialog').getByRole('button', {name: 'Revoke lease'}).click()
    await shows(page, '.empty', 'No active leases.')
    assert.deepEqual(faults, [])
  })

  it('browses, filters and changes the rows of a served database, and shows changes of others', async (t) => {
    const database = await startDatabase(t)
    const {page, faults} = await show(t, await openDashboard(t, {env: database.env}))
    await go(page, '#/tables')
    await page.getByText('Something to be done.').click()
    await shows(page, 'tr', /due.*string.*no/)
    await page.getByRole('link', {name: 'list'}).click()
    await shows(page, '.empty', 'No rows.')
    await page.getByRole('button', {name: 'Add'}).click()
    await page.getByRole('dialog').getByLabel('Title').fill('Write <b>docs</b>')
    await page.getByRole('dialog').getByRole('button', {name: 'Add'}).click()
    await shows(page, 'tr', 'Write <b>docs</b>')
    await addTodo(database, 'Of another client')
    await shows(page, 'tr', 'Of another client')
    await page.getByRole('button', {name: 'Rename 1', exact: true}).click()
    const dialog = page.getByRole('dialog')
    assert.equal(await dialog.getByLabel('Title').inputValue(), 'Write <b>docs</b>')
    await dialog.getByLabel('Title').fill('Write guides')
    await dialog.getByRole('button', {name: 'Rename'}).click()
    await shows(page, 'tr', 'Write guides')
    await page
      .locator(':focus')
      .filter({hasText: /Rename|List/})
      .waitFor()
    await page.getByLabel('Done').check()
    await page.getByRole('button', {name: 'Filter'}).click()
    await shows(page, '.empty', 'No rows.')
    await go(page, '#/tables/all')
    for (const [done, selector, text] of [
      ['true', '.empty', 'No rows.'],
      ['false', 'tr', 'Write guides'],
    ] as const) {
      await page.getByLabel('Done').selectOption(done)
      await page.getByRole('button', {name: 'Filter'}).click()
      await shows(page, selector, text)
    }
    assert.deepEqual(faults, [])
  })

  it('says that svc db serve was killed, and continues when it runs again', async (t) => {
    const {server, folder, env} = await startDatabase(t)
    const {page} = await show(t, await openDashboard(t, {env}))
    await go(page, '#/tables/list')
    await shows(page, '.empty', 'No rows.')
    await server.stop('SIGKILL')
    await shows(page, '#fault', 'svc db serve is not reachable.')
    const again = await startDatabase(t, {folder, args: ['--port', new URL(server.baseUrl).port]})
    await addTodo(again, 'Written after the restart')
    await shows(page, 'tr', 'Written after the restart')
    await page.locator('#fault').waitFor({state: 'hidden'})
  })

  it('says that svc serve was killed, and continues when it runs again', async (t) => {
    const {server, env} = await startModels(t)
    const {page} = await show(t, await openDashboard(t, {env}))
    await go(page, '#/models')
    await shows(page, 'tr', 'tiny')
    await server.stop('SIGKILL')
    await shows(page, '#fault', `Cannot reach ${server.baseUrl}`)
    await startModels(t, new URL(server.baseUrl).port)
    await page.locator('#fault').waitFor({state: 'hidden'})
    await shows(page, 'tr', 'tiny')
  })

  it('says that the control plane was killed, and continues when it runs again', async (t) => {
    const first = await startMeshServer(t)
    const join = async ({baseUrl}: typeof first, id: string) => {
      const node = {id, version: '1.0.0', last_seen_unix_ms: 0, capabilities: {}}
      assert.equal((await askMesh({baseUrl}, '/v1/mesh/join', {body: node})).status, 200)
    }
    await join(first, 'desk')
    const {page} = await show(t, await openDashboard(t, {env: {SVC_MESH_CONTROL_ADDR: first.baseUrl}}))
    await go(page, '#/mesh')
    await shows(page, 'tr', 'desk')
    await first.stop('SIGKILL')
    await shows(page, '#fault', `Cannot reach ${first.baseUrl}`)
    const again = await startMeshServer(t, {folder: first.folder, port: Number(new URL(first.baseUrl).port)})
    await join(again, 'rack')
    await shows(page, 'tr', 'rack')
    await page.locator('#fault').waitFor({state: 'hidden'})
  })

  it('says that the daemon was killed, and sees the next one', async (t) => {
    const {start} = await orchWorkspace(t)
    const dashboard = start(['dashboard', '--port', '0', '--quiet'])
    const page = await suite()
    t.after(async () => void (await page.goto('about:blank')))
    await page.goto(await dashboard.line(1))
    await shows(page, '#link', 'No daemon')
    const daemon = start(['daemon', 'run'])
    await shows(page, '#link', 'Connected')
    await daemon.end('SIGKILL')
    await shows(page, '#link', 'No daemon')
    await shows(page, '#banner', 'No daemon runs the queued tasks of this workspace.')
    const next = start(['daemon', 'run'])
    await shows(page, '#link', 'Connected')
    await next.end('SIGTERM')
  })

  it('says that svc dashboard was killed, and continues when it runs again', async (t) => {
    const {start, submit} = await orchWorkspace(t)
    const dashboard = start(['dashboard', '--port', '0', '--quiet'])
    const page = await suite()
    t.after(async () => void (await page.goto('about:blank')))
    const address = await dashboard.line(1)
    await page.goto(address)
    await shows(page, '#link', 'No daemon')
    await dashboard.end('SIGKILL')
    await shows(page, '#link', 'Not reachable')
    await submit('Written meanwhile', '--processor', 'external')
    start(['dashboard', '--port', new URL(address).port, '--quiet'])
    await shows(page, 'tr', 'Written meanwhile')
    await shows(page, '#link', 'No daemon')
  })

  it('asks for the address if it has no key', async (t) => {
    const {dashboard} = await openDashboard(t)
    const page = await suite()
    t.after(async () => void (await page.goto('about:blank')))
    await page.goto(dashboard.baseUrl)
    await shows(page, '#banner', 'Open the address that svc dashboard prints.')
  })
})
