import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {startInTurn} from './svc-in-turn.js'

/** A program served by `svc db serve` in a separate process. */
export interface DbServer {
  baseUrl: string
  /** Calls an endpoint and returns the status and the JSON body. */
  post(
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{status: number; json: unknown}>
  get(path: string): Promise<{status: number; json: unknown}>
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

export async function serveDb(
  t: {after(end: () => Promise<void>): unknown},
  folder: string,
  source: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<DbServer> {
  const program = join(folder, 'program.svc')
  await writeFile(program, source)
  const port = args.includes('--port') ? [] : ['--port', '0']
  const running = startInTurn(['db', 'serve', program, '--db', join(folder, 'app.db'), '--json', ...port, ...args], {
    cwd: folder,
    env,
  })
  while (running.lines.length === 0) await running.told()
  const {base_url: baseUrl} = JSON.parse(running.lines[0] ?? '') as {base_url: string}
  const answer = async (response: Response) => {
    const text = await response.text()
    return {status: response.status, json: text === '' ? undefined : (JSON.parse(text) as unknown)}
  }
  const server: DbServer = {
    baseUrl,
    post: async (path, body, headers = {}) =>
      answer(
        await fetch(baseUrl + path, {
          method: 'POST',
          headers: {'content-type': 'application/json', ...headers},
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      ),
    get: async (path) => answer(await fetch(baseUrl + path)),
    stop: async (signal = 'SIGTERM') => {
      running.signal(signal)
      await running.ended
    },
  }
  t.after(running.close)
  return server
}
