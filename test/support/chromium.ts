import {existsSync} from 'node:fs'
import {delimiter, join} from 'node:path'
import {after} from 'node:test'
import {type Browser, chromium, type Page} from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** What a test of pages needs, in words for a test that is skipped without it. */
export const noChromium = 'there is no Chromium; install it, or name it in CHROMIUM_PATH'

/** The Chromium of this machine: the one that `CHROMIUM_PATH` names, else the first in the search path. */
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
 * Starts a browser without a window, with a profile of its own that is removed with it. It ends with the suite, whose
 * tests use its one page in turn: a page of its own for each test takes four times the time of the processor. The page
 * runs a script before those of each document.
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
