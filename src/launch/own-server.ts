import {randomUUID} from 'node:crypto'
import {createInterface} from 'node:readline'
import {SvcError} from '../errors/index.js'
import {onAbort, startTimer} from '../process/index.js'
import {keyVariable} from './settings.js'

export interface OwnServerOptions {
  /** Path of `bin/svc.js`. */
  binary: string
  /** Arguments of `svc serve`. */
  args: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  /** Receives what the server prints while it starts. */
  onNotice(text: string): void
  signal: AbortSignal
}

/** A server that only one program uses. */
export interface OwnServer {
  baseUrl: string
  /** Name of its model. */
  model: string
  apiKey: string
  /** Ends it, and returns the end of its log if it had ended before. */
  stop(): Promise<string | undefined>
}

/** Time that a server has to end, ms; then it is killed. */
const stopMs = 10_000
/** Length of the kept log, characters. */
const keptLog = 4000

/**
 * Starts `svc serve` on a free port of the loopback interface, with a key that only this process knows. It is in a process
 * group of its own, so that Ctrl-C reaches only the program. It ends with its standard input, and thus with this process,
 * also if that is killed.
 * @throws launch_server_failed; the reason of the signal
 */
export async function startOwnServer({binary, args, env, onNotice, signal}: OwnServerOptions): Promise<OwnServer> {
  const {execa} = await import('execa')
  signal.throwIfAborted()
  const apiKey = randomUUID()
  const child = execa(
    process.execPath,
    [...process.execArgv, binary, 'serve', '--host', '127.0.0.1', '--port', '0', '--json', '--stop-on-eof', ...args],
    {
      env: {...env, [keyVariable]: apiKey},
      extendEnv: false,
      detached: true,
      stdin: 'pipe',
      buffer: false,
      reject: false,
      forceKillAfterDelay: false,
    },
  )
  let log = ''
  let isReady = false
  let hasEnded = false
  void child.then(() => {
    hasEnded = true
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (!isReady) onNotice(text.trimEnd())
    log = (log + text).slice(-keptLog)
  })
  const stop = async () => {
    if (hasEnded) return log
    child.stdin.end()
    const timer = startTimer(() => child.kill('SIGKILL'), stopMs)
    await child
    timer.stop()
    return undefined
  }
  const stopListening = onAbort(signal, () => void child.stdin.end())
  try {
    const {base_url: baseUrl, model} = await firstLine(child.stdout)
    signal.throwIfAborted()
    isReady = true
    log = ''
    return {baseUrl, model, apiKey, stop}
  } catch (error) {
    await stop()
    signal.throwIfAborted()
    throw error
  } finally {
    stopListening()
  }
}

/** The ready line of a server; the error that it prints instead. @throws launch_server_failed */
async function firstLine(stdout: NodeJS.ReadableStream): Promise<{base_url: string; model: string}> {
  for await (const line of createInterface({input: stdout})) {
    const {event, error, ...ready} = JSON.parse(line)
    if (error !== undefined)
      throw new SvcError('launch_server_failed', {reason: `${error.message} ${error.remediation}`})
    if (event === 'ready') {
      // The rest is read and dropped, so that the server never waits.
      stdout.resume()
      return ready
    }
  }
  throw new SvcError('launch_server_failed', {reason: 'It ended without a message.'})
}
