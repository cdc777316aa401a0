import {type ChildProcess, spawn} from 'node:child_process'
import {randomUUID} from 'node:crypto'
import {EventEmitter, once} from 'node:events'
import {tmpdir} from 'node:os'
import type {Readable} from 'node:stream'
import {fileURLToPath} from 'node:url'
import {environment, maxRunMs, type SvcOptions, type SvcResult, startSvc, svc} from './svc.js'

/** Request to a process. It prints the mark to both streams when the command line has ended. */
export interface CommandLine {
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  input: string | Uint8Array
  mark: string
}

export interface Ended {
  exitCode: number
  /** Whether the command line left nothing in the process that could affect the next one. */
  isAsBefore: boolean
}

/** A command line that runs until it is stopped. */
export interface Going {
  /** Lines of standard output so far. */
  readonly lines: readonly string[]
  /** Standard error so far. */
  stderr(): string
  /** Resolves with the result when it has ended. */
  readonly ended: Promise<SvcResult>
  /** Waits for its next output or its end. Throws if it has already ended. */
  told(): Promise<void>
  /** Sends its process a signal, unless it has ended. */
  signal(name: NodeJS.Signals): void
  /** Sends SIGTERM to its process and returns the result. */
  stop(): Promise<SvcResult>
  /** Ends it at the end of a test, if necessary with SIGKILL. */
  close(): Promise<void>
}

const program = fileURLToPath(new URL('svc-in-turn-process.js', import.meta.url))
/** Time to end after SIGTERM before SIGKILL, ms. */
const closingMs = 2000
/** Maximum number of concurrent command lines; more would not be faster. */
const maxProcesses = 2

const idle: ChildProcess[] = []
const waiting: (() => void)[] = []
let busy = 0

/** Variables that are read when a command line runs, unlike those that Node and libraries read at startup. */
const readLate = /^(SVC_\w+|HF_\w+|HOME|PATH|TMPDIR|USER|XDG_\w+)$/

const canBeReused = ({env = {}}: SvcOptions): boolean => Object.keys(env).every((name) => readLate.test(name))

/**
 * Runs a command line through `main` in a reused process. It takes a tenth of the time of `svc` and has the same output
 * and exit status, which `svc-in-turn.test.ts` verifies. Not for tests of signals, closed pipes, process ids, secrets
 * in logs, loaded modules or concurrency.
 */
export async function svcInTurn(args: readonly string[], options: SvcOptions = {}): Promise<SvcResult> {
  if (!canBeReused(options)) return svc(args, options)
  if (busy === maxProcesses) await new Promise<void>((resolve) => waiting.push(resolve))
  else busy += 1
  try {
    return await runIn(idleProcess() ?? startProcess(), args, options)
  } finally {
    const next = waiting.shift()
    if (next === undefined) busy -= 1
    else next()
  }
}

/**
 * Starts a long-running command line in a reused process, with the same restrictions. It does not count towards the
 * maximum number.
 */
export function startInTurn(args: readonly string[], options: SvcOptions = {}): Going {
  if (!canBeReused(options)) return startAlone(args, options)
  const child = idleProcess() ?? startProcess()
  return follow(
    (onStdout, onStderr) => runIn(child, args, options, {onStdout, onStderr}),
    (name) => child.kill(name),
  )
}

/** The same in a new process, which ends with the command line. */
export function startAlone(args: readonly string[], options: SvcOptions = {}): Going {
  const child = startSvc(args, options)
  return follow(
    async (onStdout, onStderr) => {
      child.stdout?.on('data', (chunk: Buffer) => onStdout(chunk.toString('utf8')))
      child.stderr?.on('data', (chunk: Buffer) => onStderr(chunk.toString('utf8')))
      const {stdout, stderr, exitCode} = await child
      return {stdout: String(stdout), stderr: String(stderr), exitCode}
    },
    (name) => child.kill(name),
  )
}

/** Ends the reused processes that run nothing. */
export async function endIdleProcesses(): Promise<void> {
  await Promise.all(
    idle.splice(0).map(async (child) => {
      if (!child.connected) return
      hold(child)
      // No one reads its output, so it never closes.
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    }),
  )
}

type OnText = (text: string) => void

/** Runs a command line and collects its output. */
function follow(
  run: (onStdout: OnText, onStderr: OnText) => Promise<SvcResult>,
  kill: (name: NodeJS.Signals) => unknown,
): Going {
  const lines: string[] = []
  let rest = ''
  let stderr = ''
  const told = new EventEmitter().setMaxListeners(20)
  const onStdout = (text: string) => {
    const pieces = (rest + text).split('\n')
    rest = pieces.pop() ?? ''
    lines.push(...pieces)
    told.emit('told')
  }
  const onStderr = (text: string) => {
    stderr += text
    told.emit('told')
  }
  let over: SvcResult | undefined
  const ended = run(onStdout, onStderr).then((result) => {
    over = result
    told.emit('told')
    return result
  })
  // After the end, the process may already run another command line.
  const signal = (name: NodeJS.Signals) => void (over === undefined && kill(name))
  return {
    lines,
    stderr: () => over?.stderr ?? stderr,
    ended,
    signal,
    async told() {
      if (over !== undefined) throw new Error(`It has ended: ${over.stdout}${over.stderr}`)
      await once(told, 'told')
    },
    stop() {
      signal('SIGTERM')
      return ended
    },
    async close() {
      const late = setTimeout(signal, closingMs, 'SIGKILL')
      signal('SIGTERM')
      await ended
      clearTimeout(late)
    },
  }
}

async function runIn(
  child: ChildProcess,
  args: readonly string[],
  {cwd = tmpdir(), env, input = ''}: SvcOptions,
  {onStdout, onStderr}: {onStdout?: OnText; onStderr?: OnText} = {},
): Promise<SvcResult> {
  hold(child)
  const late = setTimeout(() => child.kill('SIGKILL'), maxRunMs)
  try {
    const mark = `\0${randomUUID()}\0`
    const outputs = [outputOf(child.stdout, mark, onStdout), outputOf(child.stderr, mark, onStderr)] as const
    const ended = endOf(child)
    child.send({args, cwd, env: environment(env), input, mark} satisfies CommandLine)
    const [{exitCode, isAsBefore}, stdout, stderr] = await Promise.all([ended, ...outputs])
    if (!isAsBefore && child.connected) child.disconnect()
    return {stdout, stderr, exitCode}
  } finally {
    clearTimeout(late)
    release(child)
  }
}

/** Takes a process that runs nothing. One that was killed may still be in the list. */
function idleProcess(): ChildProcess | undefined {
  for (let child = idle.pop(); child !== undefined; child = idle.pop()) if (isUsable(child)) return child
  return undefined
}

const isUsable = ({exitCode, signalCode, connected}: ChildProcess): boolean =>
  exitCode === null && signalCode === null && connected

function startProcess(): ChildProcess {
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    env: environment(),
  })
  child.setMaxListeners(20)
  return child
}

/** Waits for the end of the command line or of the process. */
async function endOf(child: ChildProcess): Promise<Partial<Ended>> {
  const over = new AbortController()
  try {
    const {signal} = over
    const [answer] = await Promise.race([once(child, 'message', {signal}), once(child, 'close', {signal})])
    return typeof answer === 'object' && answer !== null ? (answer as Ended) : {exitCode: answer ?? undefined}
  } finally {
    over.abort()
  }
}

/** The output up to the mark or the end of the process. */
function outputOf(stream: Readable | null, mark: string, onText?: OnText): Promise<string> {
  return new Promise((resolve) => {
    if (stream === null) return resolve('')
    const chunks: Buffer[] = []
    let tail = ''
    const end = () => {
      stream.off('data', onData).off('end', end)
      const text = Buffer.concat(chunks).toString('utf8')
      resolve(text.endsWith(mark) ? text.slice(0, -mark.length) : text)
    }
    const onData = (chunk: Buffer) => {
      chunks.push(chunk)
      onText?.(chunk.toString('utf8'))
      tail = (tail + chunk.toString('latin1')).slice(-mark.length)
      if (tail === mark) end()
    }
    stream.on('data', onData).on('end', end)
  })
}

/** Unreferences an idle process, so that it does not prevent the tests from ending. */
function release(child: ChildProcess): void {
  for (const part of [child, child.channel, child.stdout, child.stderr]) (part as {unref?(): void} | null)?.unref?.()
  if (isUsable(child)) idle.push(child)
}

function hold(child: ChildProcess): void {
  for (const part of [child, child.channel, child.stdout, child.stderr]) (part as {ref?(): void} | null)?.ref?.()
}
