import {accessSync, constants, realpathSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {type EnvFile, type ReadEnvFile, readEnvFile} from './env-file.js'
import type {ConfigFile} from './file.js'
import {resolveSettings} from './resolve.js'
import type {SettingTable} from './setting.js'
import {meshSettings} from './tables/mesh.js'

export const meshEnvPath = (folder: string): string => join(folder, '.svc', 'mesh', 'mesh.env')

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads `.svc/mesh/mesh.env` in the folders that `SVC_WORKSPACE_ROOT` and `SVC_REPO_ROOT` name, in the workspace and in
 * the home folder. Each variable comes from the first file that sets it. This runs before every command and costs five
 * file-system checks if no such file exists. An unreadable file is a warning, never an error.
 *
 * A secret is only sent to the control plane that it was stored for. Once a file names the control plane, the secrets of
 * all later files are ignored. If `Svc.toml` of the workspace names it, the secrets in the home folder are ignored
 * unless that file names a control plane too.
 * @param tables settings whose variables are known
 */
export function readMeshEnv(
  root: string,
  env: Environment,
  tables: readonly SettingTable[],
  toml?: ConfigFile | undefined,
): EnvFile {
  const home = pathBelow(searchable(env.HOME ?? env.USERPROFILE))
  const workspace = meshEnvPath(resolve(root))
  const isOfUser = (path: string) => home !== undefined && isSame(path, home)
  const isNamedByToml = !namesAddress(env) && addressOf(toml) !== undefined && !isOfUser(workspace)
  const paths = new Set([pathBelow(env.SVC_WORKSPACE_ROOT), pathBelow(env.SVC_REPO_ROOT), workspace, home])
  const files = [...paths].flatMap((path): Candidate[] => {
    const file = path === undefined ? undefined : readEnvFile(path, {tables, isOfUser})
    return file === undefined ? [] : [{...file, isForToml: !isNamedByToml || path !== home}]
  })
  return merge(files, files.length === 0 ? new Set() : secretsOf(tables))
}

/** A file, and whether its secrets may be sent to the address in `Svc.toml`. */
type Candidate = ReadEnvFile & {isForToml: boolean}

/** @param files by descending precedence */
function merge(files: readonly Candidate[], secrets: ReadonlySet<string>): EnvFile {
  const values: Record<string, string> = {}
  const origins: Record<string, string> = {}
  const shadowed = new Set<string>()
  let isNamed = false
  for (const {path, values: own, isForToml} of files) {
    const isNamedHere = namesAddress(own)
    const isForAnother = isNamed || !(isForToml || isNamedHere)
    for (const [name, value] of Object.entries(own)) {
      if (values[name] !== undefined) continue
      if (isForAnother && secrets.has(name)) {
        shadowed.add(path)
        continue
      }
      values[name] = value
      origins[name] = path
    }
    isNamed ||= isNamedHere
  }
  return {values, origins, shadowed: [...shadowed], warnings: files.flatMap(({warnings}) => warnings)}
}

/** Variables of secret settings. */
const secretsOf = (tables: readonly SettingTable[]): ReadonlySet<string> =>
  new Set(tables.flatMap(({rows}) => Object.values(rows).flatMap(({secret, env = []}) => (secret ? env : []))))

const namesAddress = (variables: Environment): boolean =>
  (meshSettings.rows.controlUrl.env ?? []).some((name) => variables[name]?.trim())

const addressOf = (toml: ConfigFile | undefined): string | undefined =>
  toml && resolveSettings(meshSettings, {env: {}, file: toml}).values.controlUrl

const pathBelow = (folder: string | undefined): string | undefined =>
  folder?.trim() ? meshEnvPath(resolve(folder.trim())) : undefined

/** The folder, or undefined if no file below it can be opened: an inaccessible home folder is not worth a warning. */
function searchable(folder: string | undefined): string | undefined {
  try {
    if (folder !== undefined) accessSync(folder, constants.X_OK)
    return folder
  } catch {
    return undefined
  }
}

/** Compares real paths, since one of them may contain a symbolic link. */
const isSame = (path: string, other: string): boolean => path === other || realpathOf(path) === realpathOf(other)

function realpathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
