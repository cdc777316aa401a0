import {join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {packageRoot} from '../../files/index.js'
import {eventStream, type HttpApp} from '../../net/index.js'
import {type PageServer, servePage} from '../../pages/index.js'
import type {MeshClient} from '../client/client.js'
import {actions} from './actions.js'
import {StateFeed} from './feed.js'
import {readState} from './read-state.js'

export interface DashboardOptions {
  /** Client of the displayed control plane. */
  client: MeshClient
  /** Loopback address. */
  address: {host: string; port: number}
  /** Age from which a node is stale, ms; 0 disables the check. */
  staleAfterMs: number
  /** File with the key of the page, which gives the same access as the token of the mesh. */
  keyPath: string
}

/** Maximum body of an action, bytes. */
const bodyLimit = 16 << 10

/** Build output of `page/`. The page receives its data as an event stream. */
const pageFolder = join(packageRoot, 'dist', 'src', 'mesh', 'dashboard', 'page')

/**
 * Serves a web page to monitor and administer a control plane. The tokens never leave this process.
 * @throws port_in_use, address_unavailable
 */
export function startDashboard({client, address, staleAfterMs, keyPath}: DashboardOptions): Promise<PageServer> {
  return servePage({target: 'dashboard', folder: pageFolder, keyPath, bodyLimit, address}, (app) => {
    const feed = new StateFeed((before) => readState(client, before, {staleAfterMs, now: Date.now}), Date.now)
    addEvents(app, feed)
    addActions(app, client, feed)
    return feed
  })
}

function addEvents(app: HttpApp, feed: StateFeed): void {
  app.get('/api/events', {exposeHeadRoute: false}, async (_request, reply) => {
    if (feed.isFull) throw new SvcError('overloaded', {reason: 'Too many dashboard pages are open.'})
    feed.subscribe(eventStream(reply))
    return reply
  })
}

function addActions(app: HttpApp, client: MeshClient, feed: StateFeed): void {
  for (const [name, act] of Object.entries(actions))
    app.post(`/api/${name}`, async ({body}, reply) => {
      if (typeof body !== 'object' || body === null) throw new SvcError('invalid_json', {reason: 'it is not an object'})
      await act(client, body as Readonly<Record<string, unknown>>)
      feed.soon()
      return reply.code(204).send()
    })
}
