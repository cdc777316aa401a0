import {logger} from '../log/index.js'
import type {OperationBase} from '../operations/index.js'
import {EventWatch} from './event-watch.js'
import {GroupCommit} from './group-commit.js'
import type {ListenAddress} from './listen-address.js'
import {createMethods} from './methods.js'
import {RoundRobin} from './round-robin.js'
import type {Server} from './server.js'
import type {Service} from './service.js'
import {serveStdio} from './stdio-server.js'
import {serveTcp} from './tcp-server.js'

export interface RpcServerOptions {
  listen: ListenAddress
  /** Of the operations: an orchestrator of their own, whose writes the loop notices like those of others. */
  base: OperationBase
  /** That clients over TCP must show first. */
  token: string | undefined
  /** Whether other machines may connect; takes a token. */
  allowRemote: boolean
  /** Longest time for one line over TCP, ms. */
  lineTimeoutMs: number
  /** A client asked the daemon to stop. */
  onShutDown: () => void
}

/** The part of a daemon that answers requests. */
export interface RpcServer extends Server {
  /** Reports an event of this process. */
  notifyEvent(id: number): void
}

/**
 * Starts to answer requests.
 * @throws daemon_exposed, daemon_address_in_use, daemon_address_unavailable
 */
export async function openRpcServer({listen, base, onShutDown, ...options}: RpcServerOptions): Promise<RpcServer> {
  const watch = new EventWatch(base.modules, base.orchestrator)
  const log = logger('svc.daemon')
  const service: Service = {
    base,
    methods: createMethods(),
    roundRobin: new RoundRobin(),
    watch,
    group: new GroupCommit(base.orchestrator.store),
    log,
    shutDown: onShutDown,
  }
  const server = listen.kind === 'stdio' ? serveStdio(service) : await serveTcp({service, address: listen, ...options})
  return {
    address: server.address,
    ended: server.ended,
    close: (graceMs) => server.close(graceMs),
    notifyEvent: (id) => watch.notify(id),
  }
}
