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

/** Timeout of a program, ms. Servers and daemons on a slow machine run for minutes. */
export const maxRunMs = 15 * 60_000

const base = {
  reject: false,
  extendEnv: false,
  stripFinalNewline: false,
  timeout: maxRunMs,
  // On a busy machine, a program may take longer to end after a signal than the limit of the library.
  forceKillAfterDelay: false,
} as const

const {PATH = '', NODE_OPTIONS, SVC_PRECISION} = process.env

/**
 * The environment of a command line. Of the environment of the tests, only the options of Node and the precision of
 * language models are inherited, so that `SVC_PRECISION=w8 npm test serve/` tests serving with rounded weights.
 */
export const environment = (env: SvcOptions['env'] = {}): Record<string, string> => ({
  PATH,
  HOME: tmpdir(),
  ...(NODE_OPTIONS === undefined ? {} : {NODE_OPTIONS}),
  ...(SVC_PRECISION === undefined ? {} : {SVC_PRECISION}),
  ...env,
})

export interface SvcResult {
  stdout: string
  stderr: string
  exitCode: number | undefined
}

/** Runs the real binary to its end with its own environment. Standard input is empty by default. */
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

/** Starts the real binary for interaction while it runs. */
export const startSvc = (
  args: readonly string[],
  {cwd = tmpdir(), env}: SvcOptions = {},
): ResultPromise<typeof base & Options> =>
  execa(process.execPath, [svcBinary, ...args], {...base, cwd, env: environment(env)}) as never
