import type {TestContext} from 'node:test'
import {execa} from 'execa'
import {environment, maxRunMs, type SvcOptions, svcBinary} from './svc.js'
import {until} from './until.js'

interface Ended {
  /** Everything that was written to the terminal. */
  output: string
  exitCode: number | undefined
}

/** A command in a terminal of script(1). Tests skip without that program. */
export interface Terminal {
  /** What has been written to the terminal since the last text that was typed. */
  shown(): string
  /** Waits until a text is shown. */
  shows(text: string | RegExp): Promise<void>
  /** Types a text; `\r` is the Enter key. */
  type(text: string): void
  kill(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

/** Starts a command line of a shell in a terminal of 80 columns, with the environment of a command line of the tests. */
export function startTerminal(
  test: Pick<TestContext, 'after'>,
  command: string,
  {cwd, env, columns = 80}: Pick<SvcOptions, 'cwd' | 'env'> & {columns?: number} = {},
): Terminal {
  const terminal = execa('script', ['-qec', `stty cols ${columns} rows 24; ${command}`, '/dev/null'], {
    ...(cwd === undefined ? {} : {cwd}),
    env: {...environment(env), TERM: 'xterm'},
    extendEnv: false,
    reject: false,
    timeout: maxRunMs,
    all: true,
  })
  test.after(() => terminal.kill('SIGKILL'))
  let output = ''
  let start = 0
  terminal.all.on('data', (chunk) => {
    output += String(chunk)
  })
  const shown = () => output.slice(start)
  return {
    shown,
    shows: (text) => until(() => (typeof text === 'string' ? shown().includes(text) : text.test(shown())), shown),
    type(text) {
      start = output.length
      terminal.stdin.write(text)
    },
    kill: (signal) => terminal.kill(signal),
    ended: terminal.then(({exitCode}) => ({output, exitCode})),
  }
}

/** Starts svc in a terminal. @param args words without blanks */
export const svcOnTerminal = (
  test: Pick<TestContext, 'after'>,
  args: readonly string[],
  options?: Parameters<typeof startTerminal>[2],
): Terminal => startTerminal(test, `exec ${[process.execPath, svcBinary, ...args].join(' ')}`, options)
