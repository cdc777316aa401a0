import {randomBytes} from 'node:crypto'
import {join} from 'node:path'
import {asProblem, SvcError} from '../../errors/index.js'
import {packageRoot} from '../../files/index.js'
import {registerSecret} from '../../log/index.js'
import {createApp, eventStream, type HttpApp, type Listening, listen} from '../../net/index.js'
import {loadPage} from '../../pages/index.js'
import type {MeshClient} from '../client/client.js'
import {actions} from './actions.js'
import {StateFeed} from './feed.js'
import {demandOwnPage, hasKey} from './guard.js'
import {readState} from './read-state.js'

export interface DashboardOptions {
  /** Client of the displayed control plane. */
  client: MeshClient
  /** Loopback address. */
  address: {host: string; port: number}
  /** Age from which a node is stale, ms; 0 disables the check. */
  staleAfterMs: number
}

/** `baseUrl` is the page. It contains a secret key, because it gives the same access as the token. */
export interface Dashboard extends Listening {
  close(): Promise<void>
}

/** Maximum body of an action, bytes. */
const bodyLimit = 16 << 10

/** Build output of `page/`. The page receives its data as an event stream. */
const pageFolder = join(packageRoot, 'dist', 'src', 'mesh', 'dashboard', 'page')

const lost = `The address of this page contains a key that changes each time svc mesh dashboard starts.
Open the address that it printed.
`

/**
 * Serves a web page to monitor and administer a control plane. The tokens never leave this process.
 * @throws port_in_use, address_unavailable
 */
export async function startDashboard({client, address, staleAfterMs}: DashboardOptions): Promise<Dashboard> {
  const key = randomBytes(18).toString('base64url')
  registerSecret(key)
  const {html, headers} = await loadPage(pageFolder)
  const app = createApp({
    target: 'dashboard',
    renderer: () => asProblem,
    bodyLimit,
    bodies: 'text',
    headers,
    hostRemedy: 'forward the port, for example with ssh -L',
  })
  const feed = new StateFeed((before) => readState(client, before, {staleAfterMs, now: Date.now}), Date.now)
  addPage(app, key, html)
  addEvents(app, key, feed)
  addActions(app, key, client, feed)
  const listening = await listen(app, address)
  return {
    ...listening,
    baseUrl: `${listening.baseUrl}/${key}`,
    async close() {
      feed.close()
      const closed = app.close()
      app.server.closeAllConnections()
      await closed
    },
  }
}

function addPage(app: HttpApp, key: string, html: string): void {
  app.get('/:key', async (request, reply) =>
    hasKey(request, key)
      ? reply.type('text/html; charset=utf-8').send(html)
      : reply.code(404).type('text/plain; charset=utf-8').send(lost),
  )
  app.get('/', async (_request, reply) => reply.code(404).type('text/plain; charset=utf-8').send(lost))
}

function addEvents(app: HttpApp, key: string, feed: StateFeed): void {
  app.get('/:key/events', {exposeHeadRoute: false, onRequest: demandOwnPage(key)}, async (_request, reply) => {
    if (feed.isFull) throw new SvcError('overloaded', {reason: 'Too many dashboard pages are open.'})
    feed.subscribe(eventStream(reply))
    return reply
  })
}

function addActions(app: HttpApp, key: string, client: MeshClient, feed: StateFeed): void {
  for (const [name, act] of Object.entries(actions))
    app.post(`/:key/${name}`, {onRequest: demandOwnPage(key)}, async (request, reply) => {
      await act(client, parse(request.body))
      feed.soon()
      return reply.code(204).send()
    })
}

/** @throws invalid_json */
function parse(body: unknown): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(typeof body === 'string' ? body : '')
    if (typeof value === 'object' && value !== null) return value
  } catch (error) {
    throw new SvcError('invalid_json', {reason: (error as Error).message}, {cause: error})
  }
  throw new SvcError('invalid_json', {reason: 'it is not an object'})
}
