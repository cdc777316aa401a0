/**
 * The long-running face of the workspace: answers requests as JSON lines, over standard input and output or TCP, beside
 * the loop that runs the tasks. Also its other side: finding a daemon, starting and stopping it, and calling its methods.
 */
import type {RpcServer, RpcServerOptions} from './rpc-server.js'

export {DaemonClient} from './client.js'
export {type Discovery, findDaemon, type Publication, publish} from './discovery.js'
export {formatAddress, type ListenAddress, parseListen, parsePeer} from './listen-address.js'
export type {RpcServer} from './rpc-server.js'
export {type StartedDaemon, startDaemon} from './start-daemon.js'
export {requireDaemon, stopDaemon} from './stop-daemon.js'

/**
 * Starts to answer requests. What it takes is loaded then: those who only call a daemon are ready sooner.
 * @throws daemon_exposed, daemon_address_in_use, daemon_address_unavailable
 */
export const openRpcServer = async (options: RpcServerOptions): Promise<RpcServer> =>
  (await import('./rpc-server.js')).openRpcServer(options)
