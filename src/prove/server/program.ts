import {closeSync, openSync, renameSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {fileURLToPath} from 'node:url'
import type {Options, Subprocess} from 'execa'
import {SvcError} from '../../errors/index.js'

/** Arguments of Node.js that start a program. */
export type Launch = readonly string[]

export interface ProgramOptions {
  launch: Launch
  /** Working directory and home; also contains its output and the offset of its clock. */
  folder: string
  environment: Readonly<Record<string, string>>
  /** Checks whether the program is ready; default: once it is started. */
  isReady?: (() => Promise<boolean>) | undefined
  /** Timeout of the start, ms. */
  startMs?: number | undefined
  /** Called when the process exits. */
  onEnd: (end: ProgramEnd) => void
}

export interface ProgramEnd {
  /** True if the program was stopped through its object. */
  isExpected: boolean
  /** Undefined if it was ended by a signal. */
  exitCode: number | undefined
}

export interface Program {
  /** Starts the program and waits until it is ready. @throws control_plane_silent */
  start(): Promise<void>
  kill(): Promise<void>
  terminate(): Promise<void>
  /** Suspends the process for `ms`. */
  freeze(ms: number): Promise<void>
  reload(): void
  /** Sets the offset of its wall clock, ms; also possible while it is stopped. */
  setClock(ms: number): void
  readonly isRunning: boolean
  /** True from the time when it is ready until it ends. */
  readonly isReady: boolean
}

const clockModule = fileURLToPath(new URL('./clock.js', import.meta.url))
const pollMs = 20
/** Time after SIGTERM after which the program is killed, ms. */
const stopTimeoutMs = 15_000

/** Program in its own process, with a settable clock. It can be started again after it has ended. */
export function createProgram(options: ProgramOptions): Program {
  const {folder, environment, launch, startMs = 60_000, isReady: checkReady = async () => true, onEnd} = options
  const outputFile = join(folder, 'output.log')
  const clockFile = join(folder, 'clock')
  let child: Subprocess | undefined
  let ended: Promise<unknown> = Promise.resolve()
  let isExpected = false
  let isReady = false

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
    get isReady() {
      return isReady && isUp()
    },
    async start() {
      const {execa} = await import('execa')
      const output = openSync(outputFile, 'a')
      const started = execa(process.execPath, ['--import', clockModule, ...launch], {
        cwd: folder,
        env: {
          ...(process.env.PATH === undefined ? {} : {PATH: process.env.PATH}),
          HOME: folder,
          ...environment,
          SVC_PROVE_CLOCK: clockFile,
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
      isReady = false
      ended = started.then(({exitCode}) => onEnd({isExpected, exitCode}))
      const until = performance.now() + startMs
      while (!(await checkReady())) {
        if (!isUp() || performance.now() > until)
          throw new SvcError('control_plane_silent', {log: outputFile, seconds: Math.round(startMs / 1000)})
        await sleep(pollMs)
      }
      isReady = true
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
      writeFileSync(`${clockFile}.new`, String(ms))
      renameSync(`${clockFile}.new`, clockFile)
    },
  }
}
