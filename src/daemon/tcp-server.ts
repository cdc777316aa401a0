import {type AddressInfo, createServer, type Socket} from 'node:net'
import {SvcError} from '../errors/index.js'
import {isSameSecret, missingForRemote} from '../net/index.js'
import {Connection} from './connection.js'
import {failureOf} from './envelope.js'
import {httpRefusal, isHttp} from './http-request.js'
import {formatAddress, type TcpAddress} from './listen-address.js'
import type {Server} from './server.js'
import type {Service} from './service.js'
import {mostSpare} from './spare-connection.js'

export interface TcpOptions {
  service: Service
  address: TcpAddress
  /** Whether other machines may connect; takes a token. */
  allowRemote: boolean
  /** What clients must show first. */
  token: string | undefined
  /** Longest time for one line, ms. */
  lineTimeoutMs: number
}

/** Clients at a time. */
const maxConnections = 256
/** How long a client may take to say who it is, ms. */
const greetingMs = 10_000
/** Between two looks whether a silent client is still there, ms. */
const keepAliveMs = 60_000
/** How long a client that is told to leave may take to read why, ms. */
const lingerMs = 1000

/**
 * Listens on a TCP port.
 * @throws daemon_exposed, daemon_address_in_use, daemon_address_unavailable
 */
export async function serveTcp({service, address, lineTimeoutMs, ...options}: TcpOptions): Promise<Server> {
  const {token} = options
  const admits = token === undefined ? undefined : (given: string) => isSameSecret(given, token)
  refuseExposure(address, options)
  const clients = new Map<Socket, Connection>()
  const server = createServer({allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs})
  server.on('connection', (socket) => {
    socket.on('error', (error) => service.log.debug({err: error}, 'a connection broke'))
    socket.once('close', () => {
      clients.get(socket)?.abandon()
      clients.delete(socket)
    })
    if (clients.size >= maxConnections && !makeRoom(clients)) {
      const error = new SvcError('daemon_full', {limit: maxConnections})
      service.log.warn(error.message)
      leave(socket, `${failureOf({form: 'wrapped', id: '0'}, error)}\n`)
      return
    }
    clients.set(socket, connect(socket, {service, admits}))
  })
  const bound = await listen(server, address)
  try {
    // A name may stand for more than it says.
    refuseExposure(bound, options)
  } catch (error) {
    server.close()
    throw error
  }
  const watch = setInterval(() => cutStalled(clients, lineTimeoutMs, service.log), lineTimeoutMs / 4).unref()
  server.on('error', (error) => service.log.error({err: error}, 'no more connections can be taken'))
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
      const reason = error.message
      reject(
        error.code === 'EADDRINUSE'
          ? new SvcError('daemon_address_in_use', {address: named}, {cause: error})
          : new SvcError('daemon_address_unavailable', {address: named, reason}, {cause: error}),
      )
    })
    server.listen({host, port}, () => {
      server.removeAllListeners('error')
      const {address: found, port: taken} = server.address() as AddressInfo
      resolve({host: found, port: taken})
    })
  })
}

function connect(
  socket: Socket,
  {service, admits}: {service: Service; admits: ((token: string) => boolean) | undefined},
): Connection {
  const name = `${socket.remoteAddress}:${socket.remotePort}`
  const connection = new Connection({
    service,
    transport: {
      name,
      input: socket,
      output: socket,
      end: () => leave(socket, ''),
      destroy: () => socket.destroy(),
    },
    admits,
    misdirected: (first) => (isHttp(first) ? httpRefusal : undefined),
  })
  if (admits !== undefined) {
    const timer = setTimeout(() => {
      if (!connection.isAdmitted) socket.destroy()
    }, greetingMs)
    socket.once('close', () => clearTimeout(timer))
  }
  return connection
}

/** Says the last words. What the client still sends is read and thrown away: closed over it, they would be lost. */
function leave(socket: Socket, words: string): void {
  socket.on('data', () => undefined)
  socket.resume()
  socket.end(words, () => {
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
  })
}

/** Closes connections that began a line and do not end it: a client that sends byte by byte could hold all there are. */
function cutStalled(clients: ReadonlyMap<Socket, Connection>, lineTimeoutMs: number, log: Service['log']): void {
  for (const [socket, connection] of clients)
    if (connection.isStalled(lineTimeoutMs)) {
      log.warn({connection: `${socket.remoteAddress}:${socket.remotePort}`}, 'cut: its line did not end in time')
      socket.destroy()
    }
}

/** Closes the connection that has been silent for the longest time, if that is long enough. */
function makeRoom(clients: ReadonlyMap<Socket, Connection>): boolean {
  const spare = mostSpare([...clients.values()], performance.now())
  for (const [socket, connection] of clients) if (connection === spare) socket.destroy()
  return spare !== undefined
}
