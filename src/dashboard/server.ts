import {join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {packageRoot} from '../files/index.js'
import {logger} from '../log/index.js'
import {clientGone, eventStream, type HttpApp, type ReplyStream, sseFrame} from '../net/index.js'
import {loadAppDatabase, type OperationBase} from '../operations/index.js'
import {type PageServer, servePage} from '../pages/index.js'
import {ChangeFeed} from './change-feed.js'
import {PageCalls} from './page-calls.js'

export interface DashboardOptions {
  /** The workspace. Its surface is `cli`: what the page does is done by the person at it, as with commands. */
  base: OperationBase
  /** Loopback address. */
  address: {host: string; port: number}
  /** Performs only operations that read. */
  isReadOnly: boolean
}

/** Maximum size of the parameters of an operation, bytes. */
const bodyLimit = 1 << 20

/** Build output of `page/`. */
const pageFolder = join(packageRoot, 'dist', 'src', 'dashboard', 'page')

/**
 * Serves a web page to show and change a workspace. The server performs operations of the workspace, and streams what
 * changes.
 * @throws port_in_use, address_unavailable
 */
export function startDashboard({base, address, isReadOnly}: DashboardOptions): Promise<PageServer> {
  const keyPath = join(base.orchestrator.root, '.svc', 'dashboard.key')
  return servePage({target: 'svc.dashboard', folder: pageFolder, keyPath, bodyLimit, address}, (app) => {
    const feed = new ChangeFeed(base)
    addCalls(app, base, new PageCalls(isReadOnly), feed)
    addChanges(app, feed)
    addTableChanges(app, base)
    return feed
  })
}

/** The operations: their list, and a route for each method. */
function addCalls(app: HttpApp, base: OperationBase, calls: PageCalls, feed: ChangeFeed): void {
  const {root} = base.orchestrator
  app.get('/api/methods', async () => ({workspace: root, version: base.version, methods: calls.list()}))
  app.post<{Params: {method: string}}>('/api/call/:method', async ({params, body}, reply) => {
    const context = {
      ...base,
      signal: clientGone(reply),
      report: () => undefined,
      notice: (text: string) => logger('svc.dashboard').info(text),
      ask: undefined,
    }
    try {
      return await calls.find(params.method).perform(body ?? {}, context)
    } finally {
      feed.refresh()
    }
  })
}

function addChanges(app: HttpApp, feed: ChangeFeed): void {
  app.get('/api/changes', {exposeHeadRoute: false}, async ({headers}, reply) => {
    if (feed.isFull) throw new SvcError('overloaded', {reason: 'Too many dashboard pages are open.'})
    feed.subscribe(eventStream(reply), eventIdOf(headers['last-event-id']))
    return reply
  })
}

/** Streams that rows of the database of `svc db serve` have changed; ends if that server ends. */
function addTableChanges(app: HttpApp, {sources}: OperationBase): void {
  app.get('/api/table-changes', {exposeHeadRoute: false}, async (_request, reply) => {
    const {followDatabase} = await loadAppDatabase()
    const signal = clientGone(reply)
    let stream: ReplyStream | undefined
    let id = 0
    const send = (event: string) => void stream?.write(Buffer.from(sseFrame({id: ++id, event, data: {}})))
    try {
      await followDatabase(sources, {
        onOpen() {
          stream = eventStream(reply)
          send('opened')
        },
        onChange: () => send('changes'),
        signal,
      })
    } catch (error) {
      if (stream === undefined && !signal.aborted) throw error
    }
    stream?.end()
    return reply
  })
}

const eventIdOf = (header: string | string[] | undefined): number | undefined =>
  typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined
