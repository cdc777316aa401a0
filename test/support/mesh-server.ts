import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {type Going, startAlone, startInTurn} from './svc-in-turn.js'
import {temporaryFolder} from './temporary.js'

export interface MeshServerOptions {
  /** Secrets and settings, as variables of its environment. */
  env?: Readonly<Record<string, string>>
  /** Flags beside `--port`, `--db` and `--json`. */
  args?: readonly string[]
  /** Where it works; a folder of its own when left out. */
  folder?: string
  /** File that it keeps everything in; `mesh.db` of the folder when left out, empty for the one it takes by itself. */
  db?: string
  /** A free one when left out; `configured` names none. */
  port?: number | 'configured'
  /** A new process for it, as a user starts it; one that has run other command lines when left out. */
  isAlone?: boolean
}

/** What the control plane tells when it is ready. */
export interface MeshReady {
  event: 'ready'
  base_url: string
  pid: number
  auth: 'open' | 'tokens'
  db: string
}

/** A control plane that runs as a process of its own. */
export interface MeshServer {
  baseUrl: string
  pid: number
  ready: MeshReady
  /** Its working folder, which is also its home. */
  folder: string
  /** The file with everything that it keeps. */
  db: string
  /** What it has written so far. */
  stdout(): string
  stderr(): string
  /** Resolves when standard error has a text. */
  hasTold(text: string): Promise<void>
  /** Sends a signal without waiting for what comes of it. */
  signal(name: 'SIGHUP' | 'SIGSTOP' | 'SIGCONT'): void
  /** Asks it to stop, and gives its exit status. */
  stop(signal?: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | undefined>
}

/**
 * Starts `svc mesh serve` on a free port with a file of its own, and waits until it is ready. It ends with the test.
 */
export async function startMeshServer(
  test: Pick<TestContext, 'after'>,
  options: MeshServerOptions = {},
): Promise<MeshServer> {
  const {env = {}, args = [], folder = await temporaryFolder(test), port = 0, isAlone = false} = options
  const {db = join(folder, 'mesh.db')} = options
  const file = db === '' ? [] : ['--db', db]
  const at = port === 'configured' ? [] : ['--port', String(port)]
  const start = isAlone ? startAlone : startInTurn
  const running = start(['mesh', 'serve', ...at, ...file, '--json', ...args], {
    cwd: folder,
    env: {HOME: folder, ...env},
  })
  test.after(() => {
    // A test may have it stand still.
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

/** What a control plane answered. */
export interface MeshAnswer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: A test looks at whatever the body holds.
  body: any
}

/** Asks a control plane: a body is sent as JSON by POST, without one it is a GET. */
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
