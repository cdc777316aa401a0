import {existsSync} from 'node:fs'
import {delimiter, join} from 'node:path'
import {after} from 'node:test'
import {type Browser, chromium, type Page} from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Reason for skipping browser tests. */
export const noChromium = 'there is no Chromium; install it, or name it in CHROMIUM_PATH'

/** Path of Chromium: `CHROMIUM_PATH`, else the first one on the search path. */
export function findChromium(): string | undefined {
  const {CHROMIUM_PATH: named, PATH: path = ''} = process.env
  if (named) return named
  const folders = ['/usr/bin', ...path.split(delimiter)]
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file))
}

const switches = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Starts a headless browser with a temporary profile, which ends with the suite. The tests of the suite share one page,
 * because a new page per test takes four times as much processor time. The page runs a script before those of each
 * document.
 */
export function suitePage(executablePath: string, script: string, more: readonly string[] = []): () => Promise<Page> {
  let browser: Browser | undefined
  let page: Promise<Page> | undefined
  after(() => browser?.close())
  async function open(): Promise<Page> {
    browser = await chromium.launch({executablePath, headless: true, args: [...switches, ...more]})
    const opened = await browser.newPage({ignoreHTTPSErrors: true})
    await opened.addInitScript(script)
    return opened
  }
  return () => {
    page ??= open()
    return page
  }
}
