import {type AddressInfo, createServer, type Socket} from 'node:net'
import {SvcError} from '../errors/index.js'
import {isSameSecret, listenFailure, missingForRemote} from '../net/index.js'
import {Connection} from './connection.js'
import {failureOf} from './envelope.js'
import {httpRefusal, isHttp} from './http-request.js'
import {longestIdle} from './idle-connection.js'
import {formatAddress, type TcpAddress} from './listen-address.js'
import type {Server} from './server.js'
import type {Service} from './service.js'

export interface TcpOptions {
  service: Service
  address: TcpAddress
  /** Permits a non-loopback address; requires a token. */
  allowRemote: boolean
  token: string | undefined
  /** Timeout of an incomplete line, ms. */
  lineTimeoutMs: number
}

/** Maximum number of clients. */
const maxConnections = 256
/** Timeout of the authentication, ms. */
const helloTimeoutMs = 10_000
/** Interval of TCP keep-alive probes, ms. */
const keepAliveMs = 60_000
/** Time that a client has to read the last response before its socket is destroyed, ms. */
const lingerMs = 1000

/**
 * Listens on a TCP port.
 * @throws daemon_exposed, daemon_address_in_use, daemon_address_unavailable
 */
export async function serveTcp({service, address, lineTimeoutMs, ...options}: TcpOptions): Promise<Server> {
  const {token} = options
  const isValidToken = token === undefined ? undefined : (presented: string) => isSameSecret(presented, token)
  refuseExposure(address, options)
  const clients = new Map<Socket, Connection>()
  const server = createServer({allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs})
  server.on('connection', (socket) => {
    socket.on('error', (error) => service.log.debug({err: error}, 'connection error'))
    socket.once('close', () => {
      clients.get(socket)?.abandon()
      clients.delete(socket)
    })
    if (clients.size >= maxConnections && !evictIdle(clients)) {
      const error = new SvcError('daemon_full', {limit: maxConnections})
      service.log.warn(error.message)
      endWith(socket, `${failureOf({form: 'wrapped', id: '0'}, error)}\n`)
      return
    }
    clients.set(socket, connect(socket, {service, isValidToken}))
  })
  const bound = await listen(server, address)
  try {
    // A host name may resolve to more than loopback.
    refuseExposure(bound, options)
  } catch (error) {
    server.close()
    throw error
  }
  const watch = setInterval(() => closeStalled(clients, lineTimeoutMs, service.log), lineTimeoutMs / 4).unref()
  server.on('error', (error) => service.log.error({err: error}, 'cannot accept connections'))
  return {
    address: formatAddress({host: address.host, port: bound.port}),
    ended: new Promise(() => undefined),
    async close(graceMs) {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const connection of clients.values()) connection.finish()
      const deadline = setTimeout(() => {
        for (const [socket, connection] of clients) {
          connection.abandon(new SvcError('terminated', {}))
          socket.destroy()
        }
      }, graceMs)
      await closed
      clearTimeout(deadline)
      clearInterval(watch)
    },
  }
}

/** @throws daemon_exposed */
function refuseExposure(
  address: Pick<TcpAddress, 'host' | 'port'>,
  options: Pick<TcpOptions, 'allowRemote' | 'token'>,
): void {
  const missing = missingForRemote({host: address.host, ...options, variable: 'SVC_DAEMON_TOKEN'})
  if (missing.length > 0) throw new SvcError('daemon_exposed', {address: formatAddress(address), missing})
}

function listen(server: ReturnType<typeof createServer>, address: TcpAddress): Promise<{host: string; port: number}> {
  const {host, port} = address
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const named = formatAddress(address)
      const reason = listenFailure(error)
      reject(
        error.code === 'EADDRINUSE'
          ? new SvcError('daemon_address_in_use', {address: named}, {cause: error})
          : new SvcError('daemon_address_unavailable', {address: named, reason}, {cause: error}),
      )
    })
    server.listen({host, port}, () => {
      server.removeAllListeners('error')
      const {address: boundHost, port: boundPort} = server.address() as AddressInfo
      resolve({host: boundHost, port: boundPort})
    })
  })
}

function connect(
  socket: Socket,
  {service, isValidToken}: {service: Service; isValidToken: ((token: string) => boolean) | undefined},
): Connection {
  const name = `${socket.remoteAddress}:${socket.remotePort}`
  const connection = new Connection({
    service,
    transport: {
      name,
      input: socket,
      output: socket,
      end: () => endWith(socket, ''),
      destroy: () => socket.destroy(),
    },
    isValidToken,
    refuseFirstLine: (first) => (isHttp(first) ? httpRefusal : undefined),
  })
  if (isValidToken !== undefined) {
    const timer = setTimeout(() => {
      if (!connection.isAuthenticated) socket.destroy()
    }, helloTimeoutMs)
    socket.once('close', () => clearTimeout(timer))
  }
  return connection
}

/**
 * Sends a last text and discards further input: closing with unread input would reset the connection and lose the text.
 */
function endWith(socket: Socket, text: string): void {
  socket.on('data', () => undefined)
  socket.resume()
  socket.end(text, () => {
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
  })
}

/** Closes connections with an incomplete line: slow senders could otherwise occupy all connections. */
function closeStalled(clients: ReadonlyMap<Socket, Connection>, lineTimeoutMs: number, log: Service['log']): void {
  for (const [socket, connection] of clients)
    if (connection.isStalled(lineTimeoutMs)) {
      log.warn({connection: `${socket.remoteAddress}:${socket.remotePort}`}, 'closed: incomplete line timed out')
      socket.destroy()
    }
}

/** Closes the connection that has been idle longest, if possible. @returns false if none could be closed */
function evictIdle(clients: ReadonlyMap<Socket, Connection>): boolean {
  const idle = longestIdle([...clients.values()], performance.now())
  for (const [socket, connection] of clients) if (connection === idle) socket.destroy()
  return idle !== undefined
}
