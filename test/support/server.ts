import type {SvcOptions} from './svc.js'
import {startAlone, startInTurn} from './svc-in-turn.js'

/** A server in a separate process. */
export interface RunningServer {
  baseUrl: string
  pid: number
  /** Standard error so far. */
  stderr(): string
  /** Stops it and returns its exit status. */
  stop(signal?: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | undefined>
}

export interface ServerOptions extends SvcOptions {
  /** Starts a new process, like a user; by default a reused one. */
  isAlone?: boolean
}

/**
 * Starts `svc serve`, on a free port unless the arguments name one, and waits until it is ready. It uses one thread unless
 * `SVC_THREADS` is set: test models are so small that more threads would only spin.
 */
export async function startServer(
  args: readonly string[],
  {env, isAlone = false, ...options}: ServerOptions = {},
): Promise<RunningServer> {
  const port = args.includes('--port') ? [] : ['--port', '0']
  const start = isAlone ? startAlone : startInTurn
  const running = start(['serve', ...port, '--json', ...args], {...options, env: {SVC_THREADS: '1', ...env}})
  while (running.lines.length === 0) await running.told()
  const {base_url: baseUrl, pid} = JSON.parse(running.lines[0] ?? '')
  return {
    baseUrl,
    pid,
    stderr: running.stderr,
    async stop(signal = 'SIGTERM') {
      running.signal(signal)
      return (await running.ended).exitCode
    },
  }
}
