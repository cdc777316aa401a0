import {closeSync, openSync, renameSync, writeFileSync} from 'node:fs'
import {request} from 'node:http'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {fileURLToPath} from 'node:url'
import type {Options, Subprocess} from 'execa'
import {SvcError} from '../../errors/index.js'

export interface ServerPlace {
  folder: string
  port: number
  database: string
  environment: Readonly<Record<string, string>>
}

/** Returns the Node.js arguments that start a server. */
export type Launch = (place: ServerPlace) => readonly string[]

export interface ServerOptions extends ServerPlace {
  launch: Launch
  /** Timeout of the start, ms. */
  startMs?: number
  /** Called when the process exits; `isExpected` if it was stopped through this object. */
  onEnd: (isExpected: boolean) => void
}

export interface Server {
  /** Starts the server and waits until it is healthy. @throws control_plane_silent */
  start(): Promise<void>
  kill(): Promise<void>
  terminate(): Promise<void>
  /** Suspends the process for `ms`. */
  freeze(ms: number): Promise<void>
  reload(): void
  /** Sets the offset of its wall clock, ms; also possible while it is stopped. */
  setClock(ms: number): void
  readonly isRunning: boolean
}

const clockModule = fileURLToPath(new URL('./clock.js', import.meta.url))
const pollMs = 20
/** Time after SIGTERM after which the server is killed, ms. */
const stopTimeoutMs = 15_000

export const clockFile = (folder: string): string => join(folder, 'clock')
export const outputFile = (folder: string): string => join(folder, 'server.log')

/** Control plane in its own process, with a settable clock. It restarts on the same port and database. */
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
        // The types of execa only allow descriptors up to 9.
        stdio: ['ignore', output, output] as Options['stdio'],
        reject: false,
        // A suspended process can only be stopped by SIGKILL.
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

/** Checks whether a healthy server answers on a port. */
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
