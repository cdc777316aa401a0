import {spawn} from 'node:child_process'
import {once} from 'node:events'

/** A program in a process of its own, which a test ends at any time. */
export interface Program {
  readonly pid: number
  /** Complete lines of standard output so far. */
  readonly lines: readonly string[]
  /** Standard error so far. */
  stderr(): string
  /** Resolves with the first line. */
  readonly printed: Promise<string>
  isRunning(): boolean
  /** Closes standard input, which is open until then with `hasInput`. */
  endInput(): void
  /** Sends it a signal, SIGKILL by default, unless it has ended. */
  kill(signal?: NodeJS.Signals): void
  /** Resolves with the exit status after all output was read. Null if a signal ended it. */
  readonly exited: Promise<number | null>
}

export interface ProgramOptions {
  cwd?: string
  /** The complete environment; by default that of the tests. */
  env?: Readonly<Record<string, string | undefined>>
  hasInput?: boolean
  onLine?: (line: string) => void
}

/** Runs a file with this version of Node. */
export function startProgram(
  args: readonly string[],
  {cwd, env = process.env, hasInput = false, onLine}: ProgramOptions = {},
): Program {
  const child = spawn(process.execPath, args, {
    ...(cwd === undefined ? {} : {cwd}),
    env,
    stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
  const {pid, stdin, stdout, stderr} = child
  if (pid === undefined || stdout === null || stderr === null) throw new Error('The process did not start.')
  const lines: string[] = []
  let rest = ''
  let errors = ''
  let print: (line: string) => void = () => undefined
  const printed = new Promise<string>((resolve) => {
    print = resolve
  })
  stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const pieces = `${rest}${chunk}`.split('\n')
    rest = pieces.pop() ?? ''
    for (const line of pieces) {
      lines.push(line)
      print(line)
      onLine?.(line)
    }
  })
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk
  })
  return {
    pid,
    lines,
    stderr: () => errors,
    printed,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    endInput: () => void stdin?.end(),
    kill: (signal = 'SIGKILL') => void child.kill(signal),
    exited: once(child, 'close').then(([code]) => code as number | null),
  }
}

/** The same until the end of a test at the latest. */
export function startProgramFor(
  test: {after(work: () => Promise<void>): unknown},
  args: readonly string[],
  options: ProgramOptions = {},
): Program {
  const program = startProgram(args, options)
  test.after(async () => {
    program.kill()
    await program.exited
  })
  return program
}

/** Returns a function whose call with a given number, from 1, kills this process, as if the power failed. */
export function dieAtCall(number: number): () => void {
  let left = number
  return () => {
    if (--left === 0) process.kill(process.pid, 'SIGKILL')
  }
}
