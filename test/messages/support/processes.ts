import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {writeFile} from 'node:fs/promises'
import {projectFile} from '../../support/project.js'
import {gateFile} from './gate.js'

/** A program of this folder in a child process. */
export interface RunningProgram {
  /** Its complete standard output, once it has ended. */
  readonly output: Promise<string>
  /** Resolves at its first output. */
  readonly printed: Promise<unknown>
  kill(): Promise<void>
}

export function startProgram(
  test: {after(work: () => Promise<void>): void},
  name: string,
  ...args: string[]
): RunningProgram {
  const file = projectFile(`dist/test/messages/support/${name}.js`)
  const child = spawn(process.execPath, [file, ...args], {stdio: ['ignore', 'pipe', 'inherit'], timeout: 60_000})
  const closed = once(child, 'close')
  const kill = async () => {
    child.kill('SIGKILL')
    await closed
  }
  test.after(kill)
  return {output: outputOf(child, closed), printed: once(child.stdout, 'data'), kill}
}

/** Starts several processes of a program, which wait for each other, and returns the output of each as JSON. */
export async function race<T>(
  test: {after(work: () => Promise<void>): void},
  name: string,
  root: string,
  argumentLists: readonly string[][],
): Promise<T[]> {
  const programs = argumentLists.map((args) => startProgram(test, name, root, ...args))
  await Promise.all(programs.map(({printed}) => printed))
  await writeFile(gateFile(root), '')
  const outputs = await Promise.all(programs.map(({output}) => output))
  return outputs.map((output) => JSON.parse(output.replace('ready\n', '')) as T)
}

async function outputOf({stdout}: ChildProcess, closed: Promise<unknown[]>): Promise<string> {
  let text = ''
  stdout?.on('data', (chunk) => {
    text += chunk
  })
  const [code, signal] = await closed
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`ended with ${code ?? signal}`)
  return text
}
