import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {type Going, startAlone, startInTurn} from './svc-in-turn.js'
import {temporaryFolder} from './temporary.js'

export interface MeshServerOptions {
  /** Environment variables with secrets and settings. */
  env?: Readonly<Record<string, string>>
  /** Flags in addition to `--port`, `--db` and `--json`; with `--store`, there is no `--db`. */
  args?: readonly string[]
  /** Working folder; a temporary folder by default. */
  folder?: string
  /** Database file; `mesh.db` in the folder by default. Empty for the default of the program. */
  db?: string
  /** A free port by default; `configured` omits the flag. */
  port?: number | 'configured'
  /** Starts a new process, like a user; by default a reused one. */
  isAlone?: boolean
}

/** Output of the control plane when it is ready. */
export interface MeshReady {
  event: 'ready'
  base_url: string
  pid: number
  auth: 'open' | 'tokens'
  db: string
}

/** A control plane in a separate process. */
export interface MeshServer {
  baseUrl: string
  pid: number
  ready: MeshReady
  /** Its working folder and home folder. */
  folder: string
  /** Its database file. */
  db: string
  /** Its output so far. */
  stdout(): string
  stderr(): string
  /** Resolves when standard error contains a text. */
  hasTold(text: string): Promise<void>
  /** Sends a signal without waiting for its effect. */
  signal(name: 'SIGHUP' | 'SIGSTOP' | 'SIGCONT'): void
  /** Stops it and returns its exit status. */
  stop(signal?: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | undefined>
}

/**
 * Starts `svc mesh serve` on a free port with its own database and waits until it is ready. It ends with the test.
 */
export async function startMeshServer(
  test: Pick<TestContext, 'after'>,
  options: MeshServerOptions = {},
): Promise<MeshServer> {
  const {env = {}, args = [], folder = await temporaryFolder(test), port = 0, isAlone = false} = options
  const {db = join(folder, 'mesh.db')} = options
  const file = db === '' || args.includes('--store') ? [] : ['--db', db]
  const at = port === 'configured' ? [] : ['--port', String(port)]
  const start = isAlone ? startAlone : startInTurn
  const running = start(['mesh', 'serve', ...at, ...file, '--json', ...args], {
    cwd: folder,
    env: {HOME: folder, ...env},
  })
  test.after(() => {
    // A test may have suspended it.
    running.signal('SIGCONT')
    return end(running, isAlone ? 'SIGKILL' : 'SIGTERM')
  })
  while (running.lines.length === 0) await running.told()
  const [line = ''] = running.lines
  const ready = JSON.parse(line) as MeshReady
  if (ready.event !== 'ready') throw new Error(`The control plane cannot start: ${line}`)
  return {
    baseUrl: ready.base_url,
    pid: ready.pid,
    ready,
    folder,
    db: ready.db,
    stdout: () => running.lines.map((each) => `${each}\n`).join(''),
    stderr: running.stderr,
    async hasTold(text) {
      while (!running.stderr().includes(text)) await running.told()
    },
    signal: running.signal,
    stop: (signal) => end(running, signal),
  }
}

async function end({signal, ended}: Going, name: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM') {
  signal(name)
  return (await ended).exitCode
}

/** A response of a control plane. */
export interface MeshAnswer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests check arbitrary bodies
  body: any
}

/** Sends a request to a control plane: POST with a JSON body, GET without a body. */
export async function askMesh(
  {baseUrl}: Pick<MeshServer, 'baseUrl'>,
  path: string,
  {
    token,
    body,
    method,
    headers,
  }: {token?: string; body?: unknown; method?: string; headers?: Record<string, string>} = {},
): Promise<MeshAnswer> {
  const response = await fetch(baseUrl + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(body === undefined ? {} : {'content-type': 'application/json'}),
      ...(token === undefined ? {} : {authorization: `Bearer ${token}`}),
      ...headers,
    },
    ...(body === undefined ? {} : {body: typeof body === 'string' ? body : JSON.stringify(body)}),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== ''
  return {status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined}
}
