import {mkdtemp, realpath, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {type Program, startProgram} from '../../support/program.js'
import {svcBinary} from '../../support/svc.js'
import {startInTurn} from '../../support/svc-in-turn.js'
import {readJournal, stillAtWork} from './journal.js'
import {workspaceEnv, writeWorkspace} from './workspace.js'

/** Runs a file with this version of Node in a workspace. */
export function startNode(
  args: readonly string[],
  {root, onLine}: {root: string; onLine?: (line: string) => void},
): Program {
  const program = startProgram(args, {
    cwd: root,
    env: {PATH: process.env.PATH, HOME: root, ...workspaceEnv},
    ...(onLine && {onLine}),
  })
  endLater(root, () => {
    program.kill()
    return program.exited
  })
  return program
}

/** Functions that end the programs of each workspace. */
const running = new Map<string, (() => Promise<unknown>)[]>()
const endLater = (root: string, end: () => Promise<unknown>) => running.set(root, [...(running.get(root) ?? []), end])

/** Ends all programs of a workspace, and the commands that they left running. */
export async function endPrograms(root: string): Promise<void> {
  const ends = running.get(root) ?? []
  running.delete(root)
  await Promise.all(ends.map((end) => end()))
  for (const pid of stillAtWork(root, readJournal(root))) process.kill(pid, 'SIGKILL')
}

/** Creates a workspace. It is removed when the test ends, after all its programs were ended. */
export async function temporaryWorkspace(test: Pick<TestContext, 'after'>, toml?: string): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'svc-test-')))
  test.after(async () => {
    await endPrograms(root)
    await rm(root, {recursive: true, force: true})
  })
  await writeWorkspace(root, toml)
  return root
}

export const startCommand = (args: readonly string[], options: Parameters<typeof startNode>[1]): Program =>
  startNode([svcBinary, ...args], options)

/** A running daemon with the contents of its output. */
export interface RunningDaemon extends Program {
  /** Resolves with true when it is ready, or with false when it has ended before. */
  readonly ready: Promise<boolean>
  /** Ids of the printed events. */
  readonly events: readonly number[]
  /** Code of the printed error; empty if there is none. */
  errorCode(): string
}

/** Starts a daemon in a reused process, for tests that only examine the workspace. */
export function startDaemonInTurn(root: string): Pick<RunningDaemon, 'errorCode' | 'exited' | 'kill'> {
  const {lines, signal, ended, close} = startInTurn(['daemon', 'run', '--json'], {cwd: root, env: workspaceEnv})
  endLater(root, close)
  return {
    kill: signal,
    exited: ended.then(({exitCode}) => exitCode ?? null),
    errorCode: () => (JSON.parse(lines.at(-1) ?? '{}') as {error?: {code: string}}).error?.code ?? '',
  }
}

export function startDaemon(root: string): RunningDaemon {
  const events: number[] = []
  let code = ''
  let isReady: (ready: boolean) => void = () => undefined
  const ready = new Promise<boolean>((resolve) => {
    isReady = resolve
  })
  const started = startCommand(['daemon', 'run', '--json'], {
    root,
    onLine: (line) => {
      const {event, id, error} = JSON.parse(line) as {event?: string; id?: number; error?: {code: string}}
      if (event === 'ready') isReady(true)
      if (id !== undefined) events.push(id)
      code = error?.code ?? code
    },
  })
  void started.exited.then(() => isReady(false))
  return {...started, ready, events, errorCode: () => code}
}
