import {connect, createServer, type Socket} from 'node:net'

/** A TCP proxy that can cut its connections, as a lost network does. */
export interface CutProxy {
  port: number
  /** Port that new connections are passed on to. */
  target: number
  /** Destroys all connections, without a close frame. */
  cut(): void
  close(): Promise<void>
}

export function startCutProxy(target: number): Promise<CutProxy> {
  const sockets = new Set<Socket>()
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    const upstream = connect(proxy.target, '127.0.0.1')
    for (const socket of [client, upstream]) track(socket)
    client.pipe(upstream).pipe(client)
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
  })
  const proxy: CutProxy = {
    port: 0,
    target,
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    close: () =>
      new Promise((resolve) => {
        proxy.cut()
        server.close(() => resolve())
      }),
  }
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      proxy.port = (server.address() as {port: number}).port
      resolve(proxy)
    })
  })
}
