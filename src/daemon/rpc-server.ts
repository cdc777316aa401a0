import {logger} from '../log/index.js'
import type {OperationBase} from '../operations/index.js'
import {EventWatch} from './event-watch.js'
import {GroupCommit} from './group-commit.js'
import type {ListenAddress} from './listen-address.js'
import {createMethods} from './methods.js'
import type {Server} from './server.js'
import type {Service} from './service.js'
import {serveStdio} from './stdio-server.js'
import {serveTcp} from './tcp-server.js'
import {Turns} from './turns.js'

export interface RpcServerOptions {
  listen: ListenAddress
  /** What operations work with: an orchestrator of their own, whose writes the loop notices like those of others. */
  base: OperationBase
  /** What clients over TCP must show first. */
  token: string | undefined
  /** Whether other machines may connect; takes a token. */
  allowRemote: boolean
  /** Longest time for one line over TCP, ms. */
  lineTimeoutMs: number
  /** A client asked the daemon to end. */
  onShutDown: () => void
}

/** The part of a daemon that answers requests. */
export interface RpcServer extends Server {
  /** Told of events by those who know of them first. */
  sawEvent(id: number): void
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
    turns: new Turns(),
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
    sawEvent: (id) => watch.saw(id),
  }
}
