import {once} from 'node:events'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {startSvc} from './svc.js'

/** A program served by the real binary. */
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
  const child = startSvc(['db', 'serve', program, '--db', join(folder, 'app.db'), '--json', ...port, ...args], {
    cwd: folder,
    env,
  })
  const [line] = (await once(createInterface({input: child.stdout as NodeJS.ReadableStream}), 'line')) as [string]
  const {base_url: baseUrl} = JSON.parse(line) as {base_url: string}
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
      child.kill(signal)
      await child.catch(() => undefined)
    },
  }
  t.after(() => server.stop('SIGKILL'))
  return server
}
