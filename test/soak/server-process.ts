import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {createInterface} from 'node:readline'
import type {Readable} from 'node:stream'
import {setTimeout as sleep} from 'node:timers/promises'
import {environment, svcBinary} from '../support/svc.js'
import {SampleLog} from './samples.js'

const preload = new URL('./preload.js', import.meta.url).href
const startMs = 60_000
const stopMs = 30_000
/** Maximum length of a line kept as evidence, characters. */
const maxErrorLength = 2000

/** Exit of a server; `signal` if it was killed by one. */
export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** Command of the real binary that runs until it is stopped, and reports its resource usage. */
export class ServerProcess {
  readonly log = new SampleLog()
  /** Unexpected lines on standard error. */
  readonly errors: readonly string[]
  /** Its ready line. */
  readonly ready: Readonly<Record<string, unknown>>
  readonly #child: ChildProcess
  readonly #exited: Promise<Exit>

  private constructor(
    child: ChildProcess,
    exited: Promise<Exit>,
    ready: Readonly<Record<string, unknown>>,
    reports: Readable,
    errors: string[],
  ) {
    this.#child = child
    this.#exited = exited
    this.ready = ready
    this.errors = errors
    createInterface({input: reports}).on('line', (line) => this.log.add(JSON.parse(line), performance.now()))
  }

  /** Starts a command and waits for its ready line. */
  static async start(args: readonly string[], cwd: string): Promise<ServerProcess> {
    const child = spawn(process.execPath, ['--expose-gc', '--import', preload, svcBinary, ...args], {
      cwd,
      env: environment({HOME: cwd, SVC_DATA_DIR: `${cwd}/data`}),
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      // A new process group, so that an interrupt from the terminal reaches only the runner, which stops the servers.
      detached: true,
    })
    const [, stdout, stderr, reports] = child.stdio as unknown as [null, Readable, Readable, Readable]
    const errors: string[] = []
    createInterface({input: stderr}).on('line', (line) => {
      if (isError(line)) errors.push(line.slice(0, maxErrorLength))
    })
    const exited = once(child, 'exit').then(([code, signal]) => ({code, signal}) as Exit)
    const lines = createInterface({input: stdout})
    const first = once(lines, 'line', {signal: AbortSignal.timeout(startMs)})
    try {
      const [line] = (await Promise.race([
        first,
        exited.then(({code}) => {
          throw new Error(`svc ${args.join(' ')} ended with ${code}: ${errors.join('\n')}`)
        }),
      ])) as [string]
      // Further lines are discarded.
      lines.on('line', () => undefined)
      return new ServerProcess(child, exited, JSON.parse(line), reports, errors)
    } catch (error) {
      child.kill('SIGKILL')
      first.catch(() => undefined)
      throw error
    }
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Stops it, and kills it after a timeout. */
  async stop(): Promise<Exit> {
    this.#child.kill('SIGTERM')
    const waiting = new AbortController()
    const ended = await Promise.race([this.#exited, sleep(stopMs, undefined, {signal: waiting.signal})])
    waiting.abort()
    if (ended !== undefined) return ended
    this.#child.kill('SIGKILL')
    return this.#exited
  }
}

/** With `--quiet`, a server may write only JSON log lines; warnings of Node.js are also unexpected. */
function isError(line: string): boolean {
  if (line.trim() === '') return false
  try {
    const {level} = JSON.parse(line) as {level?: string}
    return level === undefined || level === 'error' || level === 'fatal'
  } catch {
    return true
  }
}
