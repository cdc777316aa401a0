import {tmpdir} from 'node:os'
import {execa, type Options, type ResultPromise} from 'execa'
import {projectFile} from './project.js'

/** The executable a user runs. */
export const svcBinary = projectFile('bin/svc.js')

export interface SvcOptions {
  cwd?: string
  env?: Readonly<Record<string, string>>
  input?: string | Uint8Array
}

/** A program that runs for longer has hung, ms: servers and daemons of a slow machine run for minutes. */
export const longestRunMs = 15 * 60_000

const base = {reject: false, extendEnv: false, stripFinalNewline: false, timeout: longestRunMs} as const

const {PATH = '', NODE_OPTIONS} = process.env

/** The environment of a command line, apart from that of the tests but for the options of Node. */
export const environment = (env: SvcOptions['env'] = {}): Record<string, string> => ({
  PATH,
  HOME: tmpdir(),
  ...(NODE_OPTIONS === undefined ? {} : {NODE_OPTIONS}),
  ...env,
})

export interface SvcResult {
  stdout: string
  stderr: string
  exitCode: number | undefined
}

/** Runs the real binary to its end, with an environment of its own. Its standard input is empty unless given. */
export async function svc(
  args: readonly string[],
  {cwd = tmpdir(), env, input = ''}: SvcOptions = {},
): Promise<SvcResult> {
  const {stdout, stderr, exitCode} = await execa(process.execPath, [svcBinary, ...args], {
    ...base,
    cwd,
    env: environment(env),
    input,
  })
  return {stdout, stderr, exitCode}
}

/** Starts the real binary, to be talked to while it runs. */
export const startSvc = (
  args: readonly string[],
  {cwd = tmpdir(), env}: SvcOptions = {},
): ResultPromise<typeof base & Options> =>
  execa(process.execPath, [svcBinary, ...args], {...base, cwd, env: environment(env)}) as never
