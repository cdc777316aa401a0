import {type HttpApp, type Listening, listen} from '../net/index.js'
import {loadPage} from './page.js'
import {createPageApp} from './page-app.js'
import {pageKey} from './page-key.js'

export interface PageServerOptions {
  /** Target of its log lines. */
  target: string
  /** Build output of the page. */
  folder: string
  /** File with the key of the page. */
  keyPath: string
  /** Maximum size of a body, bytes. */
  bodyLimit: number
  /** Loopback address. */
  address: {host: string; port: number}
}

export interface PageServer extends Listening {
  /** Address of the page with its key, which grants access. */
  pageUrl: string
  close(): Promise<void>
}

/**
 * Serves a page for the person who started its server.
 * @param addRoutes adds what the page requests, and returns the streams to close with the server
 * @throws port_in_use, address_unavailable
 */
export async function servePage(
  {target, folder, keyPath, bodyLimit, address}: PageServerOptions,
  addRoutes: (app: HttpApp) => {close(): void},
): Promise<PageServer> {
  const key = pageKey(keyPath)
  const app = createPageApp({target, page: await loadPage(folder), key, bodyLimit})
  const streams = addRoutes(app)
  const listening = await listen(app, address)
  return {
    ...listening,
    pageUrl: `${listening.baseUrl}/#token=${key}`,
    async close() {
      streams.close()
      const closed = app.close()
      app.server.closeAllConnections()
      await closed
    },
  }
}
