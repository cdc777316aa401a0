import type {Server} from 'node:http'
import {setTimeout as sleep} from 'node:timers/promises'
import {promisify} from 'node:util'
import {asProblem, SvcError} from '../../errors/index.js'
import {
  createApp,
  createRateLimit,
  type HttpApp,
  isExposed,
  isLoopback,
  type Listening,
  listen,
  metricsType,
  type Rate,
  type TlsOptions,
} from '../../net/index.js'
import {featureHeader, features} from '../protocol/features.js'
import {routes} from '../protocol/routes.js'
import type {MeshStore, Scope} from '../store/mesh-store.js'
import {adminRoutes} from './admin-routes.js'
import type {BootstrapGrants} from './auth/bootstrap.js'
import type {Credentials} from './auth/credentials.js'
import {wrongBootstrapTokens} from './auth/identify.js'
import {serveBlobs} from './blob-routes.js'
import type {ControlPlaneContext} from './context.js'
import {inboxRoutes} from './inbox-routes.js'
import {leaseRoutes} from './lease-routes.js'
import {ControlPlaneMetrics} from './metrics.js'
import {nodeRoutes} from './node-routes.js'
import {PendingCounts} from './pending.js'
import {purgeRegularly} from './purge.js'
import {createReadiness} from './readiness.js'
import {type Handler, serveRoutes} from './route.js'
import {Waiters} from './waiters.js'

export interface ControlPlaneOptions {
  address: {host: string; port: number}
  /** Closed together with the control plane, and also if the start fails. */
  store: MeshStore
  credentials: Credentials
  scope: Scope
  maxBodyBytes: number
  /** Rate limit per caller; undefined for none. */
  rate?: Rate | undefined
  /** Nodes last seen longer ago are not listed, ms; 0 lists all. */
  stalePruneMs: number
  /** Target rate of the heartbeats of all nodes, per second. */
  heartbeatsPerSec: number
  tls?: TlsOptions | undefined
  /** Permit a non-loopback address without any secret. */
  isInsecure?: boolean | undefined
  bootstrapGrants?: BootstrapGrants | undefined
  /** Maximum number of long polls; default 10,000. */
  longPolls?: number | undefined
  /** Maximum time between two checks of a long poll, ms; default 5000. */
  safetyMs?: number | undefined
}

export interface ControlPlane extends Listening {
  /**
   * Replaces the credentials. Waiting long polls are checked against the new ones immediately.
   * @throws mesh_unprotected if there are none and the address is not loopback
   */
  reload(credentials: Credentials): void
  /**
   * Ends long polls, waits up to `drainMs` for running requests, and closes the store. While requests run, at most half
   * of that time, it accepts others, but is not ready.
   */
  close(drainMs: number): Promise<void>
}

const defaultLongPolls = 10_000

const defaultSafetyMs = 5000

/** Interval at which a server that stops looks for idle connections, ms. */
const idleCheckMs = 20

/**
 * Starts a control plane.
 * @throws mesh_unprotected, tls_unusable; the errors of `listen`
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const {store, address} = options
  try {
    requireProtection(options.credentials, options)
    const context = contextOf(options)
    const {scope, waiters} = context
    store.onArrival?.((arrival) => waiters.notifyAll((receiver) => arrival(scope, receiver)))
    const app = controlPlaneApp(context, options)
    return running(await listen(app, address), app, context, options)
  } catch (error) {
    await store.close()
    throw error
  }
}

/** @throws mesh_unprotected */
function requireProtection({isOpen}: Credentials, {address, isInsecure}: ControlPlaneOptions): void {
  if (isExposed(address.host, !isOpen || isInsecure === true))
    throw new SvcError('mesh_unprotected', {host: address.host})
}

function contextOf(options: ControlPlaneOptions): ControlPlaneContext {
  const {store, credentials, scope, rate, stalePruneMs, heartbeatsPerSec, bootstrapGrants = 'worker'} = options
  return {
    store,
    credentials,
    scope,
    rate: rate && {limit: createRateLimit(rate), perSecond: rate.perSecond},
    wrongTokens: createRateLimit(wrongBootstrapTokens),
    grants: bootstrapGrants,
    stalePruneMs,
    heartbeatsPerSec,
    waiters: new Waiters({
      max: options.longPolls ?? defaultLongPolls,
      safetyMs: options.safetyMs ?? defaultSafetyMs,
    }),
    pending: new PendingCounts(store),
    metrics: new ControlPlaneMetrics(),
    isStopping: false,
  }
}

function controlPlaneApp(context: ControlPlaneContext, {address, maxBodyBytes, tls}: ControlPlaneOptions): HttpApp {
  const app = createApp({
    target: 'mesh',
    renderer: () => asProblem,
    bodyLimit: maxBodyBytes,
    loopbackOnly: isLoopback(address.host),
    hostRemedy: 'accept other machines with --host 0.0.0.0',
    bodies: 'json',
    headers: {[featureHeader]: features.join(',')},
    tls,
  })
  const isReady = createReadiness(context)
  // The only route without authentication and rate limit.
  app.get<{Querystring: {ready?: string}}>(routes.health.path, async ({query}, reply) => {
    if (query.ready !== undefined) await isReady()
    return reply.type('text/plain; charset=utf-8').send('ok\n')
  })
  // Declared upfront so that all request objects have the same hidden class.
  app.decorateRequest('caller', null)
  serveBlobs(app, context)
  serveRoutes(app, context, {
    metrics: writeMetrics,
    ...nodeRoutes,
    ...leaseRoutes,
    ...inboxRoutes,
    ...adminRoutes,
  })
  return app
}

const writeMetrics: Handler = async ({reply}, {store, scope, metrics, waiters}) => {
  const counts = await store.counts(scope)
  reply.type(metricsType)
  return metrics.render({...counts, storeDepth: store.depth, longPolls: waiters.waiting})
}

function running(
  listening: Listening,
  app: HttpApp,
  context: ControlPlaneContext,
  options: ControlPlaneOptions,
): ControlPlane {
  const {store, waiters} = context
  const endPurge = purgeRegularly(store)
  return {
    ...listening,
    reload(credentials) {
      requireProtection(credentials, options)
      context.credentials = credentials
      waiters.wakeAll()
    },
    async close(drainMs) {
      endPurge()
      context.isStopping = true
      waiters.close()
      const {server} = app
      await untilIdle(server, drainMs / 2)
      // Connections that become idle after their response would keep the server open until their timeout.
      const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs)
      const drained = app.close()
      const timeout = new Promise((resolve) => setTimeout(resolve, drainMs / 2).unref())
      await Promise.race([drained, timeout])
      clearInterval(idle)
      server.closeAllConnections()
      await drained
      await store.close()
    },
  }
}

/** Waits until a server has no connection with a running request, at most `ms`. Closes idle connections. */
async function untilIdle(server: Server, ms: number): Promise<void> {
  const connections = promisify(server.getConnections.bind(server))
  for (const untilMs = performance.now() + ms; performance.now() < untilMs; await sleep(idleCheckMs)) {
    server.closeIdleConnections()
    if ((await connections()) === 0) return
  }
}
