/**
 * JSON-RPC server of a workspace over standard input and output or TCP, in the process that runs the tasks; and the
 * client side: finding, starting, stopping and calling a daemon.
 */
import type {RpcServer, RpcServerOptions} from './rpc-server.js'

export {DaemonClient} from './client.js'
export {type Discovery, findDaemon, type Publication, publish} from './discovery.js'
export {anyFreePort, formatAddress, type ListenAddress, parseListen, parsePeer} from './listen-address.js'
export type {RpcServer} from './rpc-server.js'
export {type StartedDaemon, startDaemon} from './start-daemon.js'
export {requireDaemon, stopDaemon} from './stop-daemon.js'

/**
 * Starts the server. Its modules are loaded on the first call, so that clients start faster.
 * @throws daemon_exposed, daemon_address_in_use, daemon_address_unavailable
 */
export const openRpcServer = async (options: RpcServerOptions): Promise<RpcServer> =>
  (await import('./rpc-server.js')).openRpcServer(options)
