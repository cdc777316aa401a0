import {randomUUID} from 'node:crypto'
import {chmod, chown, lstat, mkdir, mkdtemp, readdir, realpath, rm, rmdir, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {failureOf} from '../../exec/index.js'
import {isWithin} from '../../files/index.js'
import {logger} from '../../log/index.js'
import {
  type GroupEnd,
  inheritedEnvironment,
  killIfRunning,
  processesWith,
  runInGroup,
  userIds,
} from '../../process/index.js'
import type {HiddenChecks, LoadedCheck, WorkspaceContext} from '../../workspace/index.js'

/** The result of a check for the log of the user. */
export interface HiddenResult {
  position: number
  passed: boolean
  /** Why it failed; absent if it passed. */
  reason?: string
  /** The last part of the output. */
  output?: string
}

/** Characters of output to keep, from its end. */
const keptCharacters = 4000

type Workspace = Pick<WorkspaceContext, 'root' | 'repositoryId' | 'config'>

/**
 * Runs hidden checks, one after another until one fails, each on its own copy of the workspace: the code that one check
 * runs cannot prepare for the next. A check that cannot run has failed.
 * @throws the reason of the signal
 */
export async function runHiddenChecks(
  workspace: Workspace,
  {checks}: HiddenChecks,
  signal: AbortSignal,
): Promise<HiddenResult[]> {
  const results: HiddenResult[] = []
  for (const check of checks) {
    const {position} = check
    try {
      results.push({position, ...(await inCopy(workspace, check, (copy) => runCheck(workspace, check, copy, signal)))})
    } catch (error) {
      signal.throwIfAborted()
      results.push({position, passed: false, reason: SvcError.from(error).message})
    }
    if (results.at(-1)?.passed === false) break
  }
  return results
}

interface Copy {
  /** The copied workspace. */
  work: string
  /** Folder of the check's files. */
  files: string
}

async function runCheck(
  workspace: Workspace,
  {command, files}: LoadedCheck,
  copy: Copy,
  signal: AbortSignal,
): Promise<Omit<HiddenResult, 'position'>> {
  await copyWorkspace(workspace.root, copy.work, run(workspace, '/', Number.POSITIVE_INFINITY, signal))
  const {timeoutMs} = workspace.config.exec
  const commands = command === undefined ? files.map(({path}) => [`{files}/${path}`]) : [command]
  for (const argv of commands) {
    const resolved = argv.map((part) => part.replaceAll('{files}', copy.files))
    const end = await run(workspace, copy.work, timeoutMs, signal)(resolved)
    const reason = failureOf(end, timeoutMs)
    if (reason !== undefined) return {passed: false, reason: `it ${reason}`, output: outputOf(end)}
  }
  return {passed: true}
}

/** Variable that marks the processes of the checks of a workspace. */
const marker = 'SVC_CHECK_OF'

type Run = (argv: readonly string[]) => Promise<GroupEnd>

const run =
  ({config, repositoryId}: Workspace, cwd: string, timeoutMs: number, signal: AbortSignal): Run =>
  ([program = '', ...args]) => {
    const {user, maxOutputBytes} = config.exec
    const env = {...inheritedEnvironment(process.env, user), [marker]: repositoryId}
    return runInGroup({argv: [program, ...args], cwd, env, user, timeoutMs, maxOutputBytes}, signal)
  }

const outputOf = ({output}: GroupEnd): string =>
  output
    .since(0)
    .map(({bytes}) => bytes.toString('utf8'))
    .join('\n')
    .slice(-keptCharacters)

/** Maximum number of arguments of a command. */
const maxArguments = 500

/**
 * Copies everything but the folder of `svc`, as the user who runs the commands. With more rights, a link that a worker
 * changes in the meantime could lead the copy to a file that the worker cannot read.
 */
async function copyWorkspace(root: string, work: string, run: Run): Promise<void> {
  const names = (await readdir(root)).filter((name) => name !== '.svc' && !isWithin(join(root, name), work))
  for (let at = 0; at < names.length; at += maxArguments) {
    const paths = names.slice(at, at + maxArguments).map((name) => join(root, name))
    const end = await run(['cp', '-RPp', '--', ...paths, work])
    if (end.exitCode !== 0) throw new Error(`the workspace cannot be copied: ${outputOf(end)}`)
  }
}

const prefixOf = ({repositoryId}: Pick<Workspace, 'repositoryId'>): string => `svc-check-${repositoryId}-`

/**
 * Creates the folders of a check for the duration of a call. Another user needs the random name in the middle to find
 * them.
 */
async function inCopy<T>(workspace: Workspace, {files}: LoadedCheck, use: (copy: Copy) => Promise<T>): Promise<T> {
  const {user} = workspace.config.exec
  const ids = user === undefined ? undefined : await userIds(user)
  const outer = await realpath(await mkdtemp(join(tmpdir(), prefixOf(workspace))))
  try {
    const inner = join(outer, randomUUID())
    const copy = {work: join(inner, 'work'), files: join(inner, 'files')}
    for (const folder of [inner, copy.work, copy.files]) await mkdir(folder, {mode: 0o700})
    for (const {path, content, isProgram} of files) {
      const target = join(copy.files, path)
      await mkdir(dirname(target), {recursive: true, mode: 0o700})
      await writeFile(target, content, {mode: isProgram ? 0o700 : 0o600})
    }
    if (ids !== undefined) await share(outer, inner, copy, ids)
    return await use(copy)
  } finally {
    await remove(workspace, outer)
  }
}

/** Lets a user write the copy and read the files. */
async function share(outer: string, inner: string, {work, files}: Copy, {uid, gid}: {uid: number; gid: number}) {
  for (const folder of [outer, inner]) await chmod(folder, 0o711)
  await chown(work, uid, gid)
  const entries = await readdir(files, {recursive: true, withFileTypes: true})
  for (const path of [files, ...entries.map(({parentPath, name}) => join(parentPath, name))]) {
    const {mode} = await lstat(path)
    await chown(path, -1, gid)
    // The group gets what the owner has, without writing.
    await chmod(path, mode | ((mode & 0o500) >> 3))
  }
}

/**
 * Removes a copy. Its files are removed as the user who ran the commands, for the same reason for which that user copied
 * them. What cannot be removed takes space, but does not disturb later checks.
 */
async function remove(workspace: Workspace, outer: string): Promise<void> {
  // The workspace may contain folders without write permission.
  const script = 'chmod -R u+rwx "$1"; rm -rf "$1"'
  try {
    for (const inner of await readdir(outer)) {
      const work = join(outer, inner, 'work')
      const {signal} = new AbortController()
      await run(workspace, '/', Number.POSITIVE_INFINITY, signal)(['sh', '-c', script, 'sh', work])
      await rmdir(work).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
    }
    await rm(outer, {recursive: true, force: true})
  } catch (error) {
    logger('svc.orchestrator').warn({err: error}, `cannot remove ${outer}`)
  }
}

/** Kills the checks that a killed daemon left behind, and removes their copies. Those of other users are not touched. */
export async function clearCopies(workspace: Workspace): Promise<void> {
  for (const pid of processesWith(marker, workspace.repositoryId)) killIfRunning(pid)
  const prefix = prefixOf(workspace)
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(prefix)) continue
    const path = join(tmpdir(), name)
    const found = await lstat(path).catch(() => undefined)
    if (found?.isDirectory() && found.uid === process.getuid?.()) await remove(workspace, path)
  }
}
