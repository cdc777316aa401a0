import assert from 'node:assert/strict'
import {once} from 'node:events'
import {existsSync, readFileSync} from 'node:fs'
import {createConnection, type Socket} from 'node:net'
import type {TestContext} from 'node:test'
import {type OrchWorkspace, orchWorkspace} from '../../support/orch-workspace.js'
import {timeoutMs} from '../../support/until.js'

export interface RunningDaemon {
  workspace: OrchWorkspace
  addr: string
  pid: number
  stderr(): string
  /** Stops the daemon and returns its exit status. */
  end(signal?: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | undefined>
  /** Waits until it exits on its own and returns its exit status. */
  ended(): Promise<number | undefined>
}

export interface TestDaemonOptions {
  workspace?: OrchWorkspace
  args?: readonly string[]
  env?: Record<string, string>
  /** Runs the executable in a new process, for tests of its memory or options. */
  alone?: boolean
}

/** Starts a daemon on a free port in a separate process, in the given or a new workspace. */
export async function startTestDaemon(
  test: Pick<TestContext, 'after'>,
  {workspace, args = ['--listen', '127.0.0.1:0'], env = {}, alone = false}: TestDaemonOptions = {},
): Promise<RunningDaemon> {
  const own = workspace ?? (await orchWorkspace(test))
  const start = alone ? own.start : own.startInTurn
  const running = start(['daemon', 'run', '--json', ...args], {env})
  const {addr, pid} = JSON.parse(await running.line(1)) as {addr: string; pid: number}
  return {
    workspace: own,
    addr,
    pid,
    stderr: running.stderr,
    end: (signal = 'SIGTERM') => running.end(signal),
    ended: () => running.end(),
  }
}

/** Raw connection to a daemon. */
export class Peer {
  readonly socket: Socket
  readonly lines: string[] = []
  #rest = ''
  #taken = 0
  #isClosed = false
  #wake: () => void = () => undefined

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n')
      this.#rest = lines.pop() ?? ''
      this.lines.push(...lines)
      this.#wake()
    })
    socket.on('error', () => undefined)
    socket.once('close', () => {
      this.#isClosed = true
      this.#wake()
    })
  }

  static async connect(test: Pick<TestContext, 'after'>, addr: string): Promise<Peer> {
    const [host = '', port] = addr.split(':')
    const socket = createConnection({host, port: Number(port), noDelay: true})
    test.after(() => socket.destroy())
    const peer = new Peer(socket)
    await once(socket, 'connect')
    return peer
  }

  /** Sends strings unchanged and objects as JSON. */
  send(...lines: (string | object)[]): void {
    this.socket.write(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))
  }

  /** Returns the next received line. */
  async next<T = Reply>(): Promise<T> {
    if (this.lines.length <= this.#taken) await this.#more()
    return JSON.parse(this.lines[this.#taken++] as string) as T
  }

  async #more(): Promise<void> {
    let isLate = false
    const deadline = setTimeout(() => {
      isLate = true
      this.#wake()
    }, timeoutMs)
    try {
      while (this.lines.length <= this.#taken) {
        assert.ok(!this.#isClosed, 'the connection was closed before it was answered')
        assert.ok(!isLate, 'no answer came')
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      clearTimeout(deadline)
    }
  }

  async nextOf<T = Reply>(count: number): Promise<T[]> {
    const found: T[] = []
    for (let i = 0; i < count; i++) found.push(await this.next<T>())
    return found
  }

  /** Sends a line and returns the next received line. */
  ask<T = Reply>(line: string | object): Promise<T> {
    this.send(line)
    return this.next<T>()
  }

  /** Calls a JSON-RPC 2.0 method and returns its result. */
  async call<T>(method: string, params: object = {}): Promise<T> {
    const {result, error} = await this.ask({jsonrpc: '2.0', id: 1, method, params})
    assert.equal(error, undefined, JSON.stringify(error))
    return result as T
  }

  /** Waits until the daemon closes the connection and returns the remaining lines. */
  async closed(): Promise<string[]> {
    if (!this.#isClosed) await once(this.socket, 'close', {signal: AbortSignal.timeout(timeoutMs)})
    return this.lines.slice(this.#taken)
  }
}

/** Line of a daemon in either form. */
export interface Reply {
  jsonrpc?: '2.0'
  id?: string | number | null
  result?: unknown
  error?: {code: number; message: string; data: {kind: string; path?: string; remediation: string; facts: object}}
  method?: string
  params?: {
    subscription_id: string
    event: {id: number; kind: {type: string; task_id?: number}}
    entry?: {type: string; payload?: string}
  }
  payload?: {
    type: string
    value?: unknown
    message?: string
    code?: number
    kind?: string
    subscription_id?: string
    event?: {id: number; kind: {type: string; task_id?: number}}
  }
}

/** Task for external workers, which a daemon does not run. */
export const external = (description: string) => ({description, processor: 'external'})

/** Peak memory of a process, bytes. */
export function peakMemory(pid: number): number {
  const [, kib = ''] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

/** For the `skip` option of a test: false if the system has `/proc`. */
export const skipWithoutProc = existsSync('/proc/self/status') ? false : 'needs /proc'
