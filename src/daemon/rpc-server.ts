import {logger} from '../log/index.js'
import {EventWatch, type OperationBase} from '../operations/index.js'
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
  /** With its own store connection, separate from that of the scheduler. */
  base: OperationBase
  /** Token required of TCP clients. */
  token: string | undefined
  /** Permits a non-loopback address; requires a token. */
  allowRemote: boolean
  /** Timeout of an incomplete line over TCP, ms. */
  lineTimeoutMs: number
  /** Called when a client requests a shutdown. */
  onShutDown: () => void
}

export interface RpcServer extends Server {
  /** Reports an event of this process. */
  notifyEvent(id: number): void
}

/**
 * Starts the server.
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
