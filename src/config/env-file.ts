import {closeSync, fstatSync, openSync, readFileSync, type Stats, statSync} from 'node:fs'
import {geteuid, platform} from 'node:process'
import {type EnvLine, parseEnvLines} from './env-lines.js'
import type {SettingTable} from './setting.js'
import {meshNodeSettings} from './tables/mesh-node.js'
import {unreadVariable} from './unread-variable.js'
import type {SettingWarning} from './warning.js'

/** Variables of files, as if they were set in the environment, but weaker. */
export interface EnvFile {
  values: Readonly<Record<string, string>>
  /** The file that each comes from. */
  origins: Readonly<Record<string, string>>
  /** Files whose secrets are left out, since they were kept for another control plane than the one that is asked. */
  shadowed: readonly string[]
  warnings: SettingWarning[]
}

/** What one file sets. */
export type ReadEnvFile = Pick<EnvFile, 'values' | 'warnings'> & {path: string}

/** Bytes that such a file may have. */
const largestFile = 64 << 10

/** Variables that such a file may set: a folder that somebody else made changes nothing but the mesh. */
const settable = /^SVC_MESH_/

/** Variables that only the user may set: a folder that somebody else made takes no machine into a mesh. */
const isOfUserAlone = (name: string) => (meshNodeSettings.rows.enabled.env as readonly string[]).includes(name)

/** What a file is held against. */
interface Known {
  tables: readonly SettingTable[]
  /** Whether it is that of the home folder. */
  isOfUser(path: string): boolean
}

/**
 * The variables of one file; undefined where it is not there. What cannot be read, or is open to others, is a warning
 * and sets nothing.
 */
export function readEnvFile(path: string, known: Known): ReadEnvFile | undefined {
  const ignored = (code: SettingWarning['code'], reason: string): ReadEnvFile => ({
    path,
    values: {},
    warnings: [{code, subject: path, message: `${path} is ignored: ${reason}.`}],
  })
  try {
    const stats = statSync(path, {throwIfNoEntry: false})
    if (stats === undefined) return undefined
    const {text, exposure} = readText(path, stats)
    if (exposure !== undefined) return ignored('env_file_exposed', exposure)
    return {path, ...readVariables(text, path, known)}
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException
    // A file lies where a folder belongs.
    return code === 'ENOTDIR' ? undefined : ignored('env_file_unreadable', code ?? message)
  }
}

/** A device or a pipe may never end. */
function readText(path: string, found: Stats): {text: string; exposure: string | undefined} {
  if (!found.isFile()) throw new Error('it is not a regular file')
  const file = openSync(path, 'r')
  try {
    // Of the file that was opened: another one may have taken its name.
    const stats = fstatSync(file)
    if (stats.size > largestFile) throw new Error(`it is larger than ${largestFile} bytes`)
    return {text: readFileSync(file, 'utf8'), exposure: envFileExposure(stats)}
  } finally {
    closeSync(file)
  }
}

/**
 * Why a file is no place for secrets; undefined where it is one. Whoever may change it could have them sent to an
 * address of their own; what is checked out of a repository is usually open to others, too.
 */
export function envFileExposure({mode, uid}: Pick<Stats, 'mode' | 'uid'>): string | undefined {
  if (platform === 'win32') return undefined
  if (uid !== geteuid?.()) return 'it belongs to another user'
  return (mode & 0o077) === 0 ? undefined : 'others can read or change it; take their access away with chmod 600'
}

/** What the lines of a file set. A warning names variables and lines, never what stands there. */
function readVariables(text: string, path: string, known: Known): Omit<ReadEnvFile, 'path'> {
  const warnings: SettingWarning[] = []
  const values: Record<string, string> = {}
  for (const line of parseEnvLines(text)) {
    const fault = faultOf(line, path, known)
    if (fault !== undefined)
      warnings.push({code: fault.code, subject: path, message: `${path}:${line.number}: ${fault.reason}`})
    else if (line.kind === 'variable' && line.value.trim() !== '') values[line.name] = line.value
  }
  return {values, warnings}
}

interface LineFault {
  code: SettingWarning['code']
  reason: string
}

function faultOf(line: EnvLine, path: string, known: Known): LineFault | undefined {
  if (line.kind === 'blank') return undefined
  if (line.kind === 'unreadable')
    return {code: 'env_file_line_ignored', reason: 'this line is no NAME=value; it is ignored.'}
  const reason = unreadReason(line.name, path, known)
  return reason === undefined ? undefined : {code: 'env_file_variable_ignored', reason}
}

function unreadReason(name: string, path: string, {tables, isOfUser}: Known): string | undefined {
  if (!settable.test(name)) return `${name} is ignored; only SVC_MESH_ variables count here.`
  if (isOfUserAlone(name) && !isOfUser(path))
    return `${name} is ignored; it counts in the environment and in the file of your home folder alone.`
  return unreadVariable(name, tables)
}
