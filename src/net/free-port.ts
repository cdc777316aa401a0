import {randomInt} from 'node:crypto'
import {once} from 'node:events'
import {createServer} from 'node:net'

/** Ports below those that systems choose for outgoing connections and for servers without a fixed port. */
const range = [10_000, 32_768] as const

/** A port of 127.0.0.1 that was free at the time of the call, and that is unlikely to be taken soon. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...range)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
  server.close()
  await once(server, 'close')
  return true
}
