import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {createInterface} from 'node:readline'

export interface ServerOptions {
  cwd: string
  env?: NodeJS.ProcessEnv
}

export const asLine = (message: object) => `${JSON.stringify({jsonrpc: '2.0', ...message})}\n`

export const initialize = asLine({
  id: 1,
  method: 'initialize',
  params: {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'bench', version: '1'}},
})

/** Starts an MCP server, sends a request and ends it. Returns the time to the response, ms. */
export async function timeStart(args: readonly string[], options: ServerOptions): Promise<number> {
  const started = performance.now()
  const {ask, end} = startServer(args, options)
  try {
    await ask(initialize)
    return performance.now() - started
  } finally {
    await end()
  }
}

/** Starts an MCP server on standard input and output. */
export function startServer(args: readonly string[], options: ServerOptions) {
  const child = spawn(process.execPath, args, {...options, stdio: ['pipe', 'pipe', 'inherit']})
  const lines = createInterface({input: child.stdout})
  const closed = once(child, 'close')
  return {
    /** Sends a request and waits for a line. @throws if the server ends first */
    async ask(message: string): Promise<void> {
      const answered = once(lines, 'line')
      child.stdin.write(message)
      const ended = closed.then(([status]) => {
        throw new Error(`${args.join(' ')} exited with ${status}.`)
      })
      await Promise.race([answered, ended])
    },
    async end(): Promise<void> {
      child.stdin.end()
      child.kill('SIGTERM')
      await closed
    },
  }
}
