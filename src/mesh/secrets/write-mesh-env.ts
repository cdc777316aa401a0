import {readFile, stat} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {envFileExposure, meshEnvPath, parseEnvLines} from '../../config/index.js'
import {SvcError} from '../../errors/index.js'
import {lockFile, writeFileAtomic} from '../../files/index.js'

/** Values by variable; undefined takes the variable out. */
export type MeshEnvValues = Readonly<Record<string, string | undefined>>

const heading = '# What lets machines into the mesh. Keep it to yourself; git is told to pass it over.\n'

const fileMode = 0o600
const folderMode = 0o700

/**
 * Sets variables in `.svc/mesh/mesh.env` of a folder, which the user alone can read; what else stands there is kept. Git
 * ignores the folder before anything is in it.
 * @returns the path of the file
 * @throws usage where a value cannot stand on a line; disk_full, file_unreadable
 */
export async function writeMeshEnv(folder: string, values: MeshEnvValues): Promise<string> {
  requireKeepable(values)
  return changeMeshEnv(folder, () => values)
}

/**
 * The same with values that depend on those that are there, where only one process at a time works on the file.
 * @param change may be called again, and must not change anything itself; what it throws leaves the file as it is
 */
export async function changeMeshEnv(
  folder: string,
  change: (now: ReadonlyMap<string, string>) => MeshEnvValues,
): Promise<string> {
  const path = meshEnvPath(folder)
  for (;;) {
    const lock = await lockFile(path)
    try {
      const text = await readOwnFile(path)
      const next = withValues(text, change(valuesIn(text)))
      await ignoreFolder(dirname(path))
      // Whoever was stopped in the meantime has read what may be old by now.
      if (!(await lock.isHeld())) continue
      await writeFileAtomic(path, next, {mode: fileMode, folderMode, flush: true})
      return path
    } finally {
      await lock.release()
    }
  }
}

/** @throws usage where a value cannot stand on a line */
export function requireKeepable(values: MeshEnvValues): void {
  for (const [name, value] of Object.entries(values)) assignment(name, value)
}

/**
 * What stands in a file; empty where it is not there. One that is open to others is not read, so that what somebody else
 * wrote into it does not come to count when the file is closed to them.
 * @throws file_unreadable
 */
async function readOwnFile(path: string): Promise<string> {
  try {
    const exposure = envFileExposure(await stat(path))
    if (exposure !== undefined) throw new SvcError('file_unreadable', {path, reason: exposure})
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error instanceof SvcError ? error : SvcError.from(Object.assign(error as Error, {path}))
  }
}

const valuesIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    parseEnvLines(text).flatMap((line) =>
      line.kind === 'variable' && line.value.trim() !== '' ? [[line.name, line.value.trim()] as const] : [],
    ),
  )

async function ignoreFolder(folder: string): Promise<void> {
  const path = join(folder, '.gitignore')
  const isThere = await readFile(path).then(
    () => true,
    () => false,
  )
  if (!isThere) await writeFileAtomic(path, '*\n', {folderMode})
}

function withValues(text: string, values: MeshEnvValues): string {
  const missing = new Map(Object.entries(values))
  const kept = parseEnvLines(text).flatMap((line) => {
    if (line.kind !== 'variable' || !Object.hasOwn(values, line.name)) return [line.text]
    // A second line that sets the same variable goes.
    const value = missing.get(line.name)
    missing.delete(line.name)
    return assignment(line.name, value)
  })
  const added = [...missing].flatMap(([name, value]) => assignment(name, value))
  const before = kept.join('\n').trimEnd()
  return `${[before === '' ? heading.trimEnd() : before, ...added].join('\n')}\n`
}

const assignment = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`${name}=${quote(name, value)}`]

function quote(name: string, value: string): string {
  if (/^[\w.:/@+=,-]+$/.test(value)) return value
  const mark = ['"', "'"].find((one) => !value.includes(one))
  if (mark === undefined || /[\r\n\0]/.test(value))
    throw new SvcError('usage', {reason: `The value of ${name} has characters that ${meshEnvPath('.')} cannot hold.`})
  return mark + value + mark
}
