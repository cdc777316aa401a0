import {Writable} from 'node:stream'
import {setTimeout as sleep} from 'node:timers/promises'
import {logger} from '../log/index.js'
import {aborted} from '../process/index.js'
import type {ServerParts} from './server-parts.js'

/** Time that running calls get to answer after the client has closed its output, ms. A client that is gone ends it by a signal. */
const answerMs = 30_000

/** Time that cancelled calls get to end, ms. */
const drainMs = 5000

export interface StdioOptions {
  input: NodeJS.ReadStream
  /** Reserved for protocol messages. */
  output: Writable
  signal: AbortSignal
}

/**
 * Serves one client over a pair of streams until it closes the input or the signal aborts. Running requests are
 * completed if the input closes, and cancelled if the signal aborts.
 */
export async function serveStdio(parts: ServerParts, {input, output, signal}: StdioOptions): Promise<void> {
  const [{connectStdio}, {StdioTransport}] = await Promise.all([
    import('./connect-stdio.js'),
    import('./stdio-transport.js'),
  ])
  const transport = new StdioTransport(input, output)
  const ended = new AbortController()
  const end = () => ended.abort()
  for (const event of ['end', 'close', 'error']) input.once(event, end)
  const {state, close} = connectStdio(parts, transport)
  const {onclose} = transport
  transport.onclose = () => {
    onclose?.()
    end()
  }
  await aborted(AbortSignal.any([signal, ended.signal]))
  state.gone.abort()
  if (!signal.aborted) await withinTime(transport.answered(), answerMs, signal)
  await close()
  await withinTime(state.running.idle(), drainMs)
  input.destroy()
  logger('mcp').debug('client disconnected')
}

/** Waits until the work is done, the time is up, or the signal aborts. */
async function withinTime(work: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  const settled = new AbortController()
  const stop = signal === undefined ? settled.signal : AbortSignal.any([settled.signal, signal])
  const timeout = sleep(ms, undefined, {signal: stop}).catch(() => undefined)
  await Promise.race([work, timeout])
  settled.abort()
}

/**
 * Reserves standard output for protocol messages: redirects all other writes to standard error.
 * @returns the stream for the messages
 */
export function claimStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      // Write errors are ignored here: standard output emits them as events.
      write(chunk, () => done())
    },
  })
}
