import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import type {Page} from 'playwright-core'
import {skipWithoutChromium, suitePage} from '../support/chromium.js'
import {type OpenDashboard, openDashboard, watchFaults} from './support.js'

const hostile = '<img src=x onerror="document.title=\'broken\'">'

const suite = suitePage(
  "addEventListener('securitypolicyviolation', (e) => console.log('violates ' + e.violatedDirective))",
)

/** Opens a view of a dashboard in the browser and collects its errors. */
async function show(t: TestContext, {dashboard}: Pick<OpenDashboard, 'dashboard'>, view = '') {
  const page = await suite()
  const {faults, stop} = watchFaults(page)
  t.after(async () => {
    stop()
    // Do not let this dashboard affect the next test.
    await page.goto('about:blank')
  })
  await page.goto(dashboard.pageUrl)
  await page.locator('#view h2').waitFor()
  if (view !== '') await page.evaluate(`location.hash = ${JSON.stringify(view)}`)
  return {page, faults}
}

/** Waits until an element shows a text. */
const shows = (page: Page, selector: string, text: string | RegExp) =>
  page.locator(selector).filter({hasText: text}).first().waitFor({state: 'visible', timeout: 60_000})

const rowOf = (page: Page, task: string) =>
  page.getByRole('row').filter({has: page.getByRole('link', {name: task, exact: true})})

describe('svc dashboard in a browser', {skip: skipWithoutChromium}, () => {
  it('lists tasks and shows their changes without a reload', async (t) => {
    const opened = await openDashboard(t)
    const {tasks, other} = opened
    const {page, faults} = await show(t, opened)
    await shows(page, '#view', 'No tasks.')
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
})
