import {once} from 'node:events'
import {Writable} from 'node:stream'
import {setTimeout as sleep} from 'node:timers/promises'
import {logger} from '../log/index.js'
import type {ServerParts} from './server-parts.js'

/** How long running calls may continue after the client has closed its output, ms. */
const drainMs = 5000

export interface StdioOptions {
  input: NodeJS.ReadStream
  /** For messages: a stream that nothing else writes to. */
  output: Writable
  signal: AbortSignal
}

/**
 * Serves one client on a pair of streams, until it closes the first one or the signal aborts. Its running requests are
 * answered in the first case and cancelled in the second.
 */
export async function serveStdio(parts: ServerParts, {input, output, signal}: StdioOptions): Promise<void> {
  const [{createToolServer}, {StdioTransport}] = await Promise.all([
    import('./server.js'),
    import('./stdio-transport.js'),
  ])
  const {server, idle, unattended} = createToolServer(parts)
  const transport = new StdioTransport(input, output)
  const ended = new AbortController()
  const end = () => ended.abort()
  for (const event of ['end', 'close', 'error']) input.once(event, end)
  await server.connect(transport)
  const {onclose} = transport
  transport.onclose = () => {
    onclose?.()
    end()
  }
  signal.addEventListener('abort', end, {once: true})
  if (!signal.aborted && !ended.signal.aborted) await once(ended.signal, 'abort')
  unattended()
  if (!signal.aborted) await withinTime(idle(), drainMs, signal)
  await server.close()
  await withinTime(idle(), drainMs)
  input.destroy()
  logger('mcp').debug('the client has gone')
}

/** Waits for some work, at most this long, and not beyond the abort of the signal. */
async function withinTime(work: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  const settled = new AbortController()
  const stop = signal === undefined ? settled.signal : AbortSignal.any([settled.signal, signal])
  const timeout = sleep(ms, undefined, {signal: stop}).catch(() => undefined)
  await Promise.race([work, timeout])
  settled.abort()
}

/**
 * Reserves standard output for the messages of the protocol: everything else that is written there goes to standard
 * error. Returns the stream for the messages.
 */
export function claimStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      // Standard output itself reports that its reader has gone.
      write(chunk, () => done())
    },
  })
}
