import type {ConsoleMessage, Page} from 'playwright-core'
import {startDashboard} from '../../src/dashboard/index.js'
import {openContext} from '../operations/support/open-context.js'
import type {temporaryFolder} from '../support/temporary.js'

type Test = Parameters<typeof temporaryFolder>[0]

/** A workspace with a dashboard, and its store opened again, as by another process. */
export async function openDashboard(
  test: Test,
  {isReadOnly = false, env = {}}: {isReadOnly?: boolean; env?: Readonly<Record<string, string>>} = {},
) {
  const closers: (() => unknown)[] = []
  // In reverse order: dashboards are closed before the store that they read.
  test.after(async () => {
    for (const close of closers.reverse()) await close()
  })
  const base = await openContext(
    {after: (close) => closers.push(close as () => unknown)} as Test,
    {surface: 'cli'},
    env,
  )
  const {modules, orchestrator, sources} = base
  const other = await modules.openOrchestrator({root: orchestrator.root, sources})
  closers.push(() => other.close())
  const start = async (port = 0) => {
    const dashboard = await startDashboard({base, address: {host: '127.0.0.1', port}, isReadOnly})
    closers.push(() => dashboard.close())
    return dashboard
  }
  return {base, dashboard: await start(), start, other, tasks: modules.tasks, closers}
}

export type OpenDashboard = Awaited<ReturnType<typeof openDashboard>>

/** Sends requests as the page does. */
export function asPage({dashboard}: Pick<OpenDashboard, 'dashboard'>) {
  const headers = {
    authorization: `Bearer ${new URL(dashboard.pageUrl).hash.slice('#token='.length)}`,
    origin: dashboard.baseUrl,
    'content-type': 'application/json',
  }
  return {
    headers,
    call: async (method: string, params: object = {}) => {
      const response = await fetch(`${dashboard.baseUrl}/api/call/${method}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(params),
      })
      return {status: response.status, body: (await response.json()) as Record<string, unknown>}
    },
  }
}

/** Collects what a page writes to its console, and its errors. */
export function watchFaults(page: Page): {faults: string[]; stop(): void} {
  const faults: string[] = []
  const onError = ({message}: Error) => void faults.push(message)
  const onConsole = (message: ConsoleMessage) => void faults.push(message.text())
  page.on('pageerror', onError).on('console', onConsole)
  return {faults, stop: () => page.off('pageerror', onError).off('console', onConsole)}
}
