import {once} from 'node:events'
import {Writable} from 'node:stream'
import {setTimeout as sleep} from 'node:timers/promises'
import {logger} from '../log/index.js'
import type {ServerParts} from './server-parts.js'

/** How long running calls may go on once the client has said its last word, ms. */
const drainMs = 5000

export interface StdioOptions {
  input: NodeJS.ReadStream
  /** Where messages go: a stream that nothing else writes to. */
  output: Writable
  signal: AbortSignal
}

/**
 * Answers one client on a pair of streams, until it ends the first one or the signal aborts. What it asked before is
 * answered in the first case, and broken off in the second.
 */
export async function serveStdio(parts: ServerParts, {input, output, signal}: StdioOptions): Promise<void> {
  const [{createToolServer}, {StdioTransport}] = await Promise.all([
    import('./server.js'),
    import('./stdio-transport.js'),
  ])
  const {server, idle, unattended} = createToolServer(parts)
  const transport = new StdioTransport(input, output)
  const ended = new AbortController()
  const leave = () => ended.abort()
  for (const event of ['end', 'close', 'error']) input.once(event, leave)
  await server.connect(transport)
  const {onclose} = transport
  transport.onclose = () => {
    onclose?.()
    leave()
  }
  signal.addEventListener('abort', leave, {once: true})
  if (!signal.aborted && !ended.signal.aborted) await once(ended.signal, 'abort')
  unattended()
  if (!signal.aborted) await withinTime(idle(), drainMs, signal)
  await server.close()
  await withinTime(idle(), drainMs)
  input.destroy()
  logger('mcp').debug('the client has gone')
}

/** Waits for some work, but no longer than so, nor once the signal aborts. */
async function withinTime(work: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  const enough = new AbortController()
  const leave = () => enough.abort()
  signal?.addEventListener('abort', leave, {once: true})
  const pause = sleep(ms, undefined, {signal: enough.signal}).catch(() => undefined)
  await Promise.race([work, pause])
  leave()
  signal?.removeEventListener('abort', leave)
}

/**
 * Keeps standard output for the messages of the protocol: whatever else writes there, now or later, goes to standard
 * error. Gives the stream for the messages.
 */
export function claimStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      // That the reader has gone is told by standard output itself.
      write(chunk, () => done())
    },
  })
}
