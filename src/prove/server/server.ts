import {closeSync, openSync, renameSync, writeFileSync} from 'node:fs'
import {request} from 'node:http'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {fileURLToPath} from 'node:url'
import type {Options, Subprocess} from 'execa'
import {SvcError} from '../../errors/index.js'

/** Where a server runs, and its environment. */
export interface ServerPlace {
  /** Its working folder and home. */
  folder: string
  port: number
  database: string
  environment: Readonly<Record<string, string>>
}

/** How a server is started: the arguments of this Node. */
export type Launch = (place: ServerPlace) => readonly string[]

export interface ServerOptions extends ServerPlace {
  launch: Launch
  /** Longest until it answers, ms. */
  startMs?: number
  /** Its process has ended; `isExpected` where it was stopped from here. */
  onEnd: (isExpected: boolean) => void
}

/** The server under test. */
export interface Server {
  /** Resolves when it answers. @throws control_plane_silent */
  start(): Promise<void>
  /** Ends it at once. */
  kill(): Promise<void>
  /** Lets it end by itself. */
  terminate(): Promise<void>
  /** Nothing of it moves for a while. */
  freeze(ms: number): Promise<void>
  /** Has it read its secrets anew. */
  reload(): void
  /** Sets how far its wall clock is off, ms; also while it does not run. */
  setClock(ms: number): void
  readonly isRunning: boolean
}

const clockModule = fileURLToPath(new URL('./clock.js', import.meta.url))
const pollMs = 20
/** A server that does not stop in time is killed, ms. */
const stopTimeoutMs = 15_000

export const clockFile = (folder: string): string => join(folder, 'clock')
export const outputFile = (folder: string): string => join(folder, 'server.log')

/** A control plane in a process of its own, whose clock can be set, and which starts again on the same port and file. */
export function createServer(options: ServerOptions): Server {
  const {folder, port, environment, launch, startMs = 60_000, onEnd} = options
  let child: Subprocess | undefined
  let ended: Promise<unknown> = Promise.resolve()
  let isExpected = false

  const isUp = () => child !== undefined && child.exitCode === null && child.signalCode === null

  async function stopWith(signal: NodeJS.Signals): Promise<void> {
    const stopping = child
    if (stopping === undefined || !isUp()) return
    isExpected = true
    stopping.kill(signal)
    await ended
  }

  return {
    get isRunning() {
      return isUp()
    },
    async start() {
      const {execa} = await import('execa')
      const output = openSync(outputFile(folder), 'a')
      const started = execa(process.execPath, ['--import', clockModule, ...launch(options)], {
        cwd: folder,
        env: {
          ...(process.env.PATH === undefined ? {} : {PATH: process.env.PATH}),
          HOME: folder,
          ...environment,
          SVC_PROVE_CLOCK: clockFile(folder),
        },
        extendEnv: false,
        // The types of execa have no descriptor above 9.
        stdio: ['ignore', output, output] as Options['stdio'],
        reject: false,
        // A process that is frozen ends by SIGKILL alone.
        forceKillAfterDelay: stopTimeoutMs,
      })
      closeSync(output)
      child = started
      isExpected = false
      ended = started.then(() => onEnd(isExpected))
      const until = performance.now() + startMs
      while (!(await answers(port))) {
        if (!isUp() || performance.now() > until)
          throw new SvcError('control_plane_silent', {log: outputFile(folder), seconds: Math.round(startMs / 1000)})
        await sleep(pollMs)
      }
    },
    kill: () => stopWith('SIGKILL'),
    terminate: () => stopWith('SIGTERM'),
    async freeze(ms) {
      const frozen = child
      frozen?.kill('SIGSTOP')
      await sleep(ms)
      frozen?.kill('SIGCONT')
    },
    reload: () => void child?.kill('SIGHUP'),
    setClock(ms) {
      const path = clockFile(folder)
      writeFileSync(`${path}.new`, String(ms))
      renameSync(`${path}.new`, path)
    },
  }
}

/** Whether somebody answers there that is healthy. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({port, host: '127.0.0.1', path: '/health', agent: false, timeout: 1000}, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', () => resolve(false))
    asked.end()
  })
}
