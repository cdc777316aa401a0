import {once} from 'node:events'
import {createConnection, type Socket} from 'node:net'

export interface Target {
  /** `http://127.0.0.1:9847` */
  baseUrl: string
  token?: string
}

/** A keep-alive connection that sends requests and reads responses with minimal work. */
export interface Connection {
  post(path: string, body: string): Promise<string>
  end(): void
}

/**
 * Opens a connection that needs less processor time than the server under load: it writes requests as bytes, and only
 * parses the length of a response. An unsuccessful response is an error.
 */
export async function connect({baseUrl, token}: Target): Promise<Connection> {
  const {hostname, port} = new URL(baseUrl)
  const socket = createConnection({host: hostname, port: Number(port), noDelay: true})
  await once(socket, 'connect')
  const answers = readAnswers(socket)
  const fixed = [
    `host: ${hostname}:${port}`,
    'content-type: application/json',
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
  ].join('\r\n')
  return {
    post(path, body) {
      const answer = answers()
      socket.write(`POST ${path} HTTP/1.1\r\n${fixed}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
      return answer
    },
    end: () => socket.destroy(),
  }
}

export const connectMany = (target: Target, connections: number): Promise<Connection[]> =>
  Promise.all(Array.from({length: connections}, () => connect(target)))

function readAnswers(socket: Socket): () => Promise<string> {
  let received: Buffer = Buffer.alloc(0)
  let settle: {resolve(body: string): void; reject(reason: Error): void} | undefined
  const look = () => {
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const head = received.toString('latin1', 0, headEnd)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    const end = headEnd + 4 + length
    if (received.length < end) return
    const body = received.toString('utf8', headEnd + 4, end)
    received = received.subarray(end)
    if (/^HTTP\/1\.1 20[04]/.test(head)) settle?.resolve(body)
    else settle?.reject(new Error(`${head}\n${body}`))
  }
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    look()
  })
  socket.on('error', (error) => settle?.reject(error))
  socket.on('close', () => settle?.reject(new Error('The server has hung up.')))
  return () =>
    new Promise((resolve, reject) => {
      settle = {resolve, reject}
    })
}

/**
 * Operations per second on all connections concurrently, sequential on each connection.
 * @param work an operation on a connection; receives the number of the connection and of the operation
 */
export async function throughput<T>(
  connections: readonly T[],
  times: number,
  work: (connection: T, lane: number, time: number) => Promise<void>,
): Promise<number> {
  const started = performance.now()
  await Promise.all(
    connections.map(async (connection, lane) => {
      for (let n = 0; n < times; n++) await work(connection, lane, n)
    }),
  )
  return (connections.length * times * 1000) / (performance.now() - started)
}
