import {readFile, stat} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {envFileExposure, meshEnvPath, parseEnvLines} from '../../config/index.js'
import {SvcError} from '../../errors/index.js'
import {lockFile, writeFileAtomic} from '../../files/index.js'

/** Values by variable; undefined removes the variable. */
export type MeshEnvValues = Readonly<Record<string, string | undefined>>

const heading = '# Secrets of the mesh. Keep this file private; a .gitignore file excludes it from git.\n'

const fileMode = 0o600
const folderMode = 0o700

/**
 * Sets variables in `.svc/mesh/mesh.env` of a folder and keeps other lines. Only the user can read the file. The folder
 * gets a `.gitignore` before the file is written.
 * @returns path of the file
 * @throws usage if a value cannot be written on one line; disk_full, file_unreadable
 */
export async function writeMeshEnv(folder: string, values: MeshEnvValues): Promise<string> {
  requireWritable(values)
  return changeMeshEnv(folder, () => values)
}

/**
 * Sets variables depending on the current values, under a lock.
 * @param change may be called repeatedly and must have no side effects; if it throws, the file is not changed
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
      // If this process was suspended, another may have taken the lock and changed the file: read it again.
      if (!(await lock.isHeld())) continue
      await writeFileAtomic(path, next, {mode: fileMode, folderMode, flush: true})
      return path
    } finally {
      await lock.release()
    }
  }
}

/** @throws usage if a value cannot be written on one line */
export function requireWritable(values: MeshEnvValues): void {
  for (const [name, value] of Object.entries(values)) assignment(name, value)
}

/**
 * Reads a file; a missing file is empty. A file that other users can access is refused: they may have written values
 * that would be trusted once the permissions are restricted.
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
  const exists = await readFile(path).then(
    () => true,
    () => false,
  )
  if (!exists) await writeFileAtomic(path, '*\n', {folderMode})
}

function withValues(text: string, values: MeshEnvValues): string {
  const missing = new Map(Object.entries(values))
  const lines = parseEnvLines(text).flatMap((line) => {
    if (line.kind !== 'variable' || !Object.hasOwn(values, line.name)) return [line.text]
    // Further lines for the same variable are removed.
    const value = missing.get(line.name)
    missing.delete(line.name)
    return assignment(line.name, value)
  })
  const added = [...missing].flatMap(([name, value]) => assignment(name, value))
  const before = lines.join('\n').trimEnd()
  return `${[before === '' ? heading.trimEnd() : before, ...added].join('\n')}\n`
}

const assignment = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`${name}=${quote(name, value)}`]

function quote(name: string, value: string): string {
  if (/^[\w.:/@+=,-]+$/.test(value)) return value
  const mark = ['"', "'"].find((one) => !value.includes(one))
  if (mark === undefined || /[\r\n\0]/.test(value))
    throw new SvcError('usage', {
      reason: `The value of ${name} contains characters that cannot be stored in ${meshEnvPath('.')}.`,
    })
  return mark + value + mark
}
