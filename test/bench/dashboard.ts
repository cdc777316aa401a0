import {statSync} from 'node:fs'
import {type Browser, chromium, type Page} from 'playwright-core'
import {median, round} from '../../src/bench/measure.js'
import {withOrchestrator} from '../../src/bench/temporary.js'
import {startDashboard} from '../../src/dashboard/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {chromiumPath} from '../support/chromium.js'
import {projectFile} from '../support/project.js'

const taskCount = 100_000
const rounds = 15

/** When a row of the task list first contains a text, Unix ms. */
const shownAt = (text: string) => `new Promise((resolve) => {
  const look = () => {
    if (!document.querySelector('#view')?.textContent.includes(${JSON.stringify(text)})) return requestAnimationFrame(look)
    resolve(performance.timeOrigin + performance.now())
  }
  look()
})`

/** Time from scrolling to the end until the page has more rows below it, ms. */
const nextPageMs = `new Promise((resolve) => {
  const root = document.documentElement
  const [at, height] = [performance.now(), root.scrollHeight]
  scrollTo(0, height)
  const look = () => root.scrollHeight > height ? resolve(performance.now() - at) : requestAnimationFrame(look)
  look()
})`

/**
 * The dashboard in a browser with 100,000 tasks. It measures how long the page takes to show the newest task, a change by
 * another process, and older tasks after scrolling.
 */
export const dashboard = () =>
  withOrchestrator({}, async (orchestrator) => {
    const {tasks} = modules
    tasks.submitBatch(
      orchestrator,
      Array.from({length: taskCount}, (_, i) => ({description: `task ${i}`, processor: 'external' as const})),
    )
    const other = await modules.openOrchestrator({root: orchestrator.root, sources: {env: {}}})
    const base = {modules, orchestrator, surface: 'cli' as const, version: '', sources: {env: {}}, speech: undefined}
    const server = await startDashboard({base, address: {host: '127.0.0.1', port: 0}, isReadOnly: false})
    let browser: Browser | undefined
    try {
      browser = await chromium.launch({executablePath: chromiumPath ?? '', headless: true, args: ['--no-sandbox']})
      const page = await browser.newPage()
      const opened = await timesOf(async () => {
        await page.goto('about:blank')
        await page.goto(server.pageUrl, {waitUntil: 'commit'})
        return (await page.evaluate<number>(shownAt(`task ${taskCount - 1}`))) - (await navigatedAt(page))
      })
      const changed = await timesOf(async (i) => {
        const seen = page.evaluate<number>(shownAt(`change ${i}`))
        const at = Date.now()
        tasks.submitTask(other, {description: `change ${i}`, processor: 'external'})
        return (await seen) - at
      })
      const scrolled = await timesOf(() => page.evaluate<number>(nextPageMs))
      return {
        tasks: taskCount,
        open_ms: round(median(opened)),
        open_max_ms: round(Math.max(...opened)),
        change_ms: round(median(changed)),
        change_max_ms: round(Math.max(...changed)),
        next_page_ms: round(median(scrolled)),
        script_bytes: statSync(projectFile('dist/src/dashboard/page/script.js')).size,
      }
    } finally {
      await browser?.close()
      await server.close()
      other.close()
    }
  })

async function timesOf(measure: (round: number) => Promise<number>): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < rounds; i++) times.push(await measure(i))
  return times
}

const navigatedAt = (page: Page) => page.evaluate<number>('performance.timeOrigin')
