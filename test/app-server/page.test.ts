import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import type {Page} from 'playwright-core'
import {watchFaults} from '../dashboard/support.js'
import {seriousFaults} from '../support/axe.js'
import {skipWithoutChromium, suitePage} from '../support/chromium.js'
import {serveDb} from '../support/db-server.js'
import {temporaryFolder} from '../support/temporary.js'

const source = `@table type Todo { title: str, done: bool, due: Option[str] }
/// What is left to do.
@endpoint(kind: query) fn list(done: bool = false, search: Option[str]) to List[Todo] {
    return db.Todo.where({ done: done }).live("todos").order_by(_id)
}
@endpoint(kind: mutation) fn add(title: str, due: Option[str]) to Id[Todo] {
    return db.Todo.insert({ title: title, done: false, due: due })
}
http get "/hello/{name}/with-a-path-that-is-longer-than-a-phone-is-wide" to str { return "hello " + name }
`

const suite = suitePage(
  "addEventListener('securitypolicyviolation', (e) => console.log('violates ' + e.violatedDirective))",
)

async function show(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const server = await serveDb(t, await temporaryFolder(t), source, [], env)
  const page = await suite()
  const {faults, stop} = watchFaults(page)
  t.after(async () => {
    stop()
    await page.goto('about:blank')
  })
  await page.goto(`${server.baseUrl}/_svc/`)
  return {page, faults}
}

/** Opens the form of an endpoint. */
async function open(page: Page, path: string) {
  const details = page.locator('details').filter({has: page.getByText(path, {exact: true})})
  await details.locator('summary').click()
  return details
}

describe('the page of svc db serve', {skip: skipWithoutChromium}, () => {
  it('calls endpoints with forms made from their parameters', async (t) => {
    const {page, faults} = await show(t)
    const add = await open(page, '/api/mutation/add')
    await add.getByLabel('Title').fill('Write <b>docs</b>')
    await add.getByRole('button', {name: 'Call'}).click()
    await add.getByText('Status 200').waitFor()
    const list = await open(page, '/api/query/list')
    await list.getByRole('button', {name: 'Call'}).click()
    await list.getByRole('cell', {name: 'Write <b>docs</b>'}).waitFor()
    await list.getByLabel('Done').check()
    await list.getByRole('button', {name: 'Call'}).click()
    await list.getByText('[]').waitFor()
    const hello = await open(page, '/hello/{name}/with-a-path-that-is-longer-than-a-phone-is-wide')
    await hello.getByLabel('Name').fill('a/b')
    await hello.getByRole('button', {name: 'Call'}).click()
    await hello.getByText('hello a/b').waitFor()
    assert.equal(await page.locator('b').count(), 0)
    assert.deepEqual(faults, [])
  })

  it('fits a desktop and a phone, light and dark, without serious faults for screen readers', async (t) => {
    const {page, faults} = await show(t)
    const size = page.viewportSize()
    t.after(async () => {
      await page.emulateMedia({colorScheme: null})
      if (size !== null) await page.setViewportSize(size)
    })
    for (const path of ['/api/mutation/add', '/api/query/list']) await open(page, path)
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewportSize({width, height: 844})
      await page.emulateMedia({colorScheme})
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
      assert.deepEqual(await seriousFaults(page), [], `${width}`)
    }
    assert.deepEqual(faults, [])
  })

  it('asks for the token', async (t) => {
    const {page} = await show(t, {SVC_APP_TOKEN: 'secret-1'})
    await page.getByText('Token required', {exact: true}).waitFor()
    await page.getByLabel('Bearer token').fill('wrong')
    await page.getByRole('button', {name: 'Use token'}).click()
    await page.locator('#banner').filter({hasText: 'The server rejected the token.'}).waitFor()
    await page.getByLabel('Bearer token').fill('secret-1')
    await page.getByRole('button', {name: 'Use token'}).click()
    const list = await open(page, '/api/query/list')
    await list.getByRole('button', {name: 'Call'}).click()
    await list.getByText('[]').waitFor()
  })
})
