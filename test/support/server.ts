import {once} from 'node:events'
import {createInterface} from 'node:readline'
import {type SvcOptions, startSvc} from './svc.js'

/** A server in a separate process. */
export interface RunningServer {
  baseUrl: string
  pid: number
  /** Standard error so far. */
  stderr(): string
  /** Stops it and returns its exit status. */
  stop(signal?: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | undefined>
}

/**
 * Starts `svc serve`, on a free port unless the arguments name one, and waits until it is ready. It uses one thread unless `SVC_THREADS` is set: test
 * models are so small that more threads would only spin.
 */
export async function startServer(args: readonly string[], {cwd, env}: SvcOptions = {}): Promise<RunningServer> {
  const options = {...(cwd === undefined ? {} : {cwd}), env: {SVC_THREADS: '1', ...env}}
  const port = args.includes('--port') ? [] : ['--port', '0']
  const running = startSvc(['serve', ...port, '--json', ...args], options)
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
