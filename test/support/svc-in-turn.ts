import {type ChildProcess, spawn} from 'node:child_process'
import {randomUUID} from 'node:crypto'
import {EventEmitter, once} from 'node:events'
import {tmpdir} from 'node:os'
import type {Readable} from 'node:stream'
import {fileURLToPath} from 'node:url'
import {environment, longestRunMs, type SvcOptions, type SvcResult, startSvc, svc} from './svc.js'

/** What a process is asked for; it prints the mark on both streams when the command line has ended. */
export interface CommandLine {
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  input: string | Uint8Array
  mark: string
}

export interface Ended {
  exitCode: number
  /** Whether the process has nothing left of the command line that the next one could come upon. */
  isAsBefore: boolean
}

/** A command line that goes on until it is stopped. */
export interface Going {
  /** The lines that it has printed so far on standard output. */
  readonly lines: readonly string[]
  /** What it has printed so far on standard error. */
  stderr(): string
  /** How it ended. */
  readonly ended: Promise<SvcResult>
  /** The next time that it prints something, or ends. Throws when it has ended. */
  told(): Promise<void>
  /** Sends its process a signal, unless it has ended. */
  signal(name: NodeJS.Signals): void
  /** Sends its process a SIGTERM, and gives how it ended. */
  stop(): Promise<SvcResult>
  /** Ends it with a test, whatever it does. */
  close(): Promise<void>
}

const program = fileURLToPath(new URL('svc-in-turn-process.js', import.meta.url))
/** How long one that is no longer needed may take to end, ms. */
const closingMs = 2000
/** Beyond these, command lines wait for each other: more processes than processors are not faster. */
const most = 2

const idle: ChildProcess[] = []
const waiting: (() => void)[] = []
let busy = 0

/** Variables that are read where a command line runs; what Node and libraries read at their start is not among them. */
const readLate = /^(SVC_\w+|HF_\w+|HOME|PATH|USER|XDG_\w+)$/

/**
 * Runs a command line through `main`, in a process that has run others before. It takes a tenth of the time of `svc`
 * and prints and exits as that does, which `svc-in-turn.test.ts` holds. Only for tests that look at nothing else: not
 * for signals, readers that go, process ids, secrets in logs, what is loaded, or many at the same moment.
 */
export async function svcInTurn(args: readonly string[], options: SvcOptions = {}): Promise<SvcResult> {
  if (!Object.keys(options.env ?? {}).every((name) => readLate.test(name))) return svc(args, options)
  if (busy === most) await new Promise<void>((resolve) => waiting.push(resolve))
  else busy += 1
  try {
    return await runIn(idle.pop() ?? startProcess(), args, options)
  } finally {
    const next = waiting.shift()
    if (next === undefined) busy -= 1
    else next()
  }
}

/** Starts a command line that goes on. Nothing waits for it, however many there are. */
export function startInTurn(args: readonly string[], options: SvcOptions = {}): Going {
  const child = idle.pop() ?? startProcess()
  return follow(
    (onStdout, onStderr) => runIn(child, args, options, {onStdout, onStderr}),
    (name) => child.kill(name),
  )
}

/** The same in a new process, which has no other end than that of the command line. */
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

type OnText = (text: string) => void

/** Runs a command line, and keeps what it has printed so far. */
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
  // The process of one that has ended may run another one by now.
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
  const late = setTimeout(() => child.kill('SIGKILL'), longestRunMs)
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

function startProcess(): ChildProcess {
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    env: environment(),
  })
  child.setMaxListeners(20)
  return child
}

/** Waits for the end of a command line, or of the process, where the command line has ended that. */
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

/** What is printed up to the mark, or to the end of the process. */
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

/** A process that waits for work does not keep the tests from ending; it goes with them. */
function release(child: ChildProcess): void {
  for (const part of [child, child.channel, child.stdout, child.stderr]) (part as {unref?(): void} | null)?.unref?.()
  if (child.exitCode === null && child.connected) idle.push(child)
}

function hold(child: ChildProcess): void {
  for (const part of [child, child.channel, child.stdout, child.stderr]) (part as {ref?(): void} | null)?.ref?.()
}
