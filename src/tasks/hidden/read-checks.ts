import {readdir, readFile, realpath, stat} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import type {HiddenCheck} from '../../config/index.js'
import {SvcError} from '../../errors/index.js'
import {isWithin} from '../../files/index.js'
import {inheritedEnvironment, runInGroup} from '../../process/index.js'
import type {HiddenChecks, HiddenFile, LoadedCheck, OrchestratorConfig} from '../../workspace/index.js'

/** Maximum size of the files of all checks together, bytes; they are kept in memory. */
const maxBytes = 64 * 2 ** 20

type Settings = Pick<OrchestratorConfig, 'harness' | 'exec'>

/**
 * Reads the hidden checks of a workspace. Errors name neither commands nor files, because workers may read them.
 * @param configPath of the file that contains them
 * @returns undefined if the workspace has none
 * @throws hidden_check_unusable, exec_user_unusable
 */
export async function readHiddenChecks(
  root: string,
  {harness: {hiddenChecks = []}, exec: {user}}: Settings,
  configPath: string | undefined,
): Promise<HiddenChecks | undefined> {
  if (hiddenChecks.length === 0 || configPath === undefined) return undefined
  const realRoot = await realpath(root)
  const checks: LoadedCheck[] = []
  let bytes = 0
  for (const [i, check] of hiddenChecks.entries()) {
    const position = i + 1
    const unusable = (reason: string) => new SvcError('hidden_check_unusable', {position, reason})
    if (!(await isOfWorkspace(check, realRoot, unusable))) continue
    if (isWithin(realRoot, await realpath(configPath)))
      throw unusable('the file that defines it is in the workspace, where workers can read it')
    const sources = await sourcesOf(check, realRoot, unusable)
    bytes += sources.reduce((sum, {content}) => sum + content.length, 0)
    if (bytes > maxBytes) throw unusable(`its files and those before it have more than ${maxBytes / 2 ** 20} MiB`)
    const isReadable = user !== undefined && (await canRead(user, [configPath, ...sources.map(({source}) => source)]))
    if (isReadable) throw unusable(`the user ${user} can read it or the file that defines it`)
    const files = sources.map(({source: _, ...file}) => file)
    checks.push({position, command: check.command, files})
  }
  return checks.length === 0 ? undefined : {checks, logPath: join(dirname(configPath), 'hidden-checks.log')}
}

type Unusable = (reason: string) => SvcError

async function isOfWorkspace({workspace}: HiddenCheck, realRoot: string, unusable: Unusable): Promise<boolean> {
  if (workspace === undefined) return true
  // A misspelt path must not turn the check off.
  const real = await realpath(workspace).catch(() => undefined)
  if (real === undefined) throw unusable('its workspace does not exist')
  return real === realRoot
}

type Source = HiddenFile & {source: string}

async function sourcesOf({command, files}: HiddenCheck, realRoot: string, unusable: Unusable): Promise<Source[]> {
  const names = files.map((path) => basename(path))
  if (new Set(names).size < names.length) throw unusable('two of its files have the same name')
  const found = await Promise.all(
    files.map((path, i) =>
      readTree(path, basename(path)).catch((error: NodeJS.ErrnoException) => {
        throw unusable(`its file ${i + 1} ${reasonOf(error)}`)
      }),
    ),
  )
  const sources = found.flat()
  if (sources.some(({source}) => isWithin(realRoot, source)))
    throw unusable('one of its files is in the workspace, where workers can read it')
  if (command === undefined && !sources.every(({path, isProgram}) => isProgram && !path.includes('/')))
    throw unusable('it has no command, and one of its files is not executable')
  return sources
}

/** The files at a path, which may be a folder, with their real paths. */
async function readTree(source: string, path: string): Promise<Source[]> {
  const found = await stat(source)
  if (found.isDirectory()) {
    const names = await readdir(source)
    return (await Promise.all(names.map((name) => readTree(join(source, name), `${path}/${name}`)))).flat()
  }
  if (!found.isFile()) throw new Error('it is neither a file nor a folder')
  if (found.size > maxBytes) throw new Error('it is too large')
  const content = await readFile(source)
  return [{source: await realpath(source), path, content, isProgram: (found.mode & 0o111) !== 0}]
}

const reasonOf = ({code}: NodeJS.ErrnoException): string => {
  if (code === undefined) return 'is neither a file nor a folder, or is too large'
  return code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
}

/** True if a user can read one of these files. @throws exec_user_unusable */
async function canRead(user: string, paths: readonly string[]): Promise<boolean> {
  const test = 'for file; do if test -r "$file"; then exit 1; fi; done'
  const {exitCode} = await runInGroup(
    {
      argv: ['sh', '-c', test, 'sh', ...paths],
      cwd: '/',
      env: inheritedEnvironment(process.env, user),
      user,
      timeoutMs: 60_000,
      maxOutputBytes: 1,
    },
    new AbortController().signal,
  )
  return exitCode !== 0
}
