import {closeSync, fstatSync, openSync, readFileSync, type Stats, statSync} from 'node:fs'
import {geteuid, platform} from 'node:process'
import {type EnvLine, parseEnvLines} from './env-lines.js'
import type {SettingTable} from './setting.js'
import {meshNodeSettings} from './tables/mesh-node.js'
import {unreadVariable} from './unread-variable.js'
import type {SettingWarning} from './warning.js'

/** Variables read from files; variables of the environment override them. */
export interface EnvFile {
  values: Readonly<Record<string, string>>
  /** Path of the file that sets each variable. */
  origins: Readonly<Record<string, string>>
  /** Files whose secrets are ignored because they belong to a different control plane. */
  shadowed: readonly string[]
  warnings: SettingWarning[]
}

/** Variables of one file. */
export type ReadEnvFile = Pick<EnvFile, 'values' | 'warnings'> & {path: string}

/** Maximum size of a file, in bytes. */
const maxFileBytes = 64 << 10

/** Variables that a file may set: a folder from another user can only change the mesh. */
const settable = /^SVC_MESH_/

/** Variables that only the user may set: a folder from another user must not make this machine join a mesh. */
const isUserOnly = (name: string) => (meshNodeSettings.rows.enabled.env as readonly string[]).includes(name)

interface Known {
  tables: readonly SettingTable[]
  /** Whether the path is the file of the home folder. */
  isOfUser(path: string): boolean
}

/**
 * Reads the variables of one file; undefined if the file does not exist. A file that is unreadable, or accessible to
 * other users, sets nothing and yields a warning.
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
    // ENOTDIR: a parent of the path is a file, so there is no mesh.env.
    return code === 'ENOTDIR'
      ? undefined
      : ignored('env_file_unreadable', code === undefined ? message : `it cannot be read (${code})`)
  }
}

/** Reads regular files only: reading a device or a pipe may never end. */
function readText(path: string, found: Stats): {text: string; exposure: string | undefined} {
  if (!found.isFile()) throw new Error('it is not a regular file')
  const file = openSync(path, 'r')
  try {
    // The status of the open file: the path may name a different file by now.
    const stats = fstatSync(file)
    if (stats.size > maxFileBytes) throw new Error(`it is larger than ${maxFileBytes} bytes`)
    return {text: readFileSync(file, 'utf8'), exposure: envFileExposure(stats)}
  } finally {
    closeSync(file)
  }
}

/**
 * Why a file must not contain secrets; undefined if it may. A user who can change the file could redirect the secrets to
 * another address. Files checked out of a repository are usually accessible to others too.
 */
export function envFileExposure({mode, uid}: Pick<Stats, 'mode' | 'uid'>): string | undefined {
  if (platform === 'win32') return undefined
  if (uid !== geteuid?.()) return 'it belongs to another user'
  return (mode & 0o077) === 0 ? undefined : 'others can read or change it; restrict it with chmod 600'
}

/** Variables of a file. Warnings contain names and line numbers, never values. */
function readVariables(text: string, path: string, known: Known): Omit<ReadEnvFile, 'path'> {
  const warnings: SettingWarning[] = []
  const values: Record<string, string> = {}
  for (const line of parseEnvLines(text)) {
    const problem = problemOf(line, path, known)
    if (problem !== undefined)
      warnings.push({code: problem.code, subject: path, message: `${path}:${line.number}: ${problem.reason}`})
    else if (line.kind === 'variable' && line.value.trim() !== '') values[line.name] = line.value
  }
  return {values, warnings}
}

interface LineProblem {
  code: SettingWarning['code']
  reason: string
}

function problemOf(line: EnvLine, path: string, known: Known): LineProblem | undefined {
  if (line.kind === 'blank') return undefined
  if (line.kind === 'unreadable')
    return {code: 'env_file_line_ignored', reason: 'the line is ignored because it is not NAME=value.'}
  const reason = reasonToIgnore(line.name, path, known)
  return reason === undefined ? undefined : {code: 'env_file_variable_ignored', reason}
}

function reasonToIgnore(name: string, path: string, {tables, isOfUser}: Known): string | undefined {
  if (!settable.test(name)) return `${name} is ignored; only SVC_MESH_ variables can be set here.`
  if (isUserOnly(name) && !isOfUser(path))
    return `${name} is ignored; set it in the environment or in the mesh.env of your home directory.`
  return unreadVariable(name, tables)
}
