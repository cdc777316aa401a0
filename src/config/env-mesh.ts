import {accessSync, constants, realpathSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {type EnvFile, type ReadEnvFile, readEnvFile} from './env-file.js'
import type {ConfigFile} from './file.js'
import {resolveSettings} from './resolve.js'
import type {SettingTable} from './setting.js'
import {meshSettings} from './tables/mesh.js'

/** Where a folder has the secrets of its mesh. */
export const meshEnvPath = (folder: string): string => join(folder, '.svc', 'mesh', 'mesh.env')

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The variables of the files `.svc/mesh/mesh.env` of the folders that `SVC_WORKSPACE_ROOT` and `SVC_REPO_ROOT` name, of
 * the workspace and of the user: each from the first file that sets it. Runs before every command, and costs five looks
 * at the file system where no such file is there. What cannot be read is a warning, never an error.
 *
 * A secret goes only where it was kept for: once a file names the control plane, the secrets of weaker files are left
 * out, and those of the user where `Svc.toml` of the workspace names it and their own file does not.
 * @param tables whose variables there are
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
  const files = [...paths].flatMap((path): Kept[] => {
    const file = path === undefined ? undefined : readEnvFile(path, {tables, isOfUser})
    return file === undefined ? [] : [{...file, isForToml: !isNamedByToml || path !== home}]
  })
  return merge(files, files.length === 0 ? new Set() : secretsOf(tables))
}

/** A file, and whether its secrets may go to the address of `Svc.toml`. */
type Kept = ReadEnvFile & {isForToml: boolean}

/** @param files the strongest first */
function merge(files: readonly Kept[], secrets: ReadonlySet<string>): EnvFile {
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

/** Variables that let their bearer in. */
const secretsOf = (tables: readonly SettingTable[]): ReadonlySet<string> =>
  new Set(tables.flatMap(({rows}) => Object.values(rows).flatMap(({secret, env = []}) => (secret ? env : []))))

const namesAddress = (variables: Environment): boolean =>
  (meshSettings.rows.controlUrl.env ?? []).some((name) => variables[name]?.trim())

const addressOf = (toml: ConfigFile | undefined): string | undefined =>
  toml && resolveSettings(meshSettings, {env: {}, file: toml}).values.controlUrl

const pathBelow = (folder: string | undefined): string | undefined =>
  folder?.trim() ? meshEnvPath(resolve(folder.trim())) : undefined

/** The folder, unless no file below it can be opened: a home of which nothing can be read is no reason for a warning. */
function searchable(folder: string | undefined): string | undefined {
  try {
    if (folder !== undefined) accessSync(folder, constants.X_OK)
    return folder
  } catch {
    return undefined
  }
}

/** One of them may be named by way of a link. */
const isSame = (path: string, other: string): boolean => path === other || realpathOf(path) === realpathOf(other)

function realpathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
