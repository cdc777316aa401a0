import {once} from 'node:events'
import {createInterface} from 'node:readline'
import {type SvcOptions, startSvc} from './svc.js'

/** A server that runs as a process of its own. */
export interface RunningServer {
  baseUrl: string
  pid: number
  /** What it has written to standard error so far. */
  stderr(): string
  /** Asks it to stop, and gives its exit status. */
  stop(signal?: 'SIGTERM' | 'SIGINT'): Promise<number | undefined>
}

/**
 * Starts `svc serve` on a free port and waits until it is ready. It computes on one thread unless `SVC_THREADS` says
 * otherwise: the models of tests are so small that more threads only wait, which keeps a processor busy.
 */
export async function startServer(args: readonly string[], {cwd, env}: SvcOptions = {}): Promise<RunningServer> {
  const options = {...(cwd === undefined ? {} : {cwd}), env: {SVC_THREADS: '1', ...env}}
  const running = startSvc(['serve', '--port', '0', '--json', ...args], options)
  let stderr = ''
  running.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  const lines = createInterface({input: running.stdout as NodeJS.ReadableStream})
  const [line] = await Promise.race([
    once(lines, 'line'),
    running.then(({stdout}) => {
      throw new Error(`The server ended: ${stdout}${stderr}`)
    }),
  ])
  const {base_url: baseUrl, pid} = JSON.parse(line)
  return {
    baseUrl,
    pid,
    stderr: () => stderr,
    async stop(signal = 'SIGTERM') {
      running.kill(signal)
      return (await running).exitCode
    },
  }
}
