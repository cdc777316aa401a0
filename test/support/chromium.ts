import {after} from 'node:test'
import {type Browser, chromium, type Page} from 'playwright-core'
import {findProgram, skipUnless} from './programs.js'

/** Path of Chromium: `CHROMIUM_PATH`, else the first one on the search path. */
export const chromiumPath =
  process.env.CHROMIUM_PATH || findProgram('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')

/** For the `skip` option of a test. */
export const skipWithoutChromium = skipUnless('Chromium', chromiumPath !== undefined)

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
export function suitePage(script: string, more: readonly string[] = []): () => Promise<Page> {
  let browser: Browser | undefined
  let page: Promise<Page> | undefined
  after(() => browser?.close())
  async function open(): Promise<Page> {
    browser = await chromium.launch({executablePath: chromiumPath ?? '', headless: true, args: [...switches, ...more]})
    const opened = await browser.newPage({ignoreHTTPSErrors: true})
    await opened.addInitScript(script)
    return opened
  }
  return () => {
    page ??= open()
    return page
  }
}
