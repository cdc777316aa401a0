import {existsSync} from 'node:fs'
import {readFile, stat} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {SvcError} from '../errors/index.js'
import type {SettingWarning} from './warning.js'

/** A parsed `Svc.toml`, or another file with the same keys. */
export interface ConfigFile {
  path: string
  data: Record<string, unknown>
  warnings: SettingWarning[]
}

/**
 * Reads the `Svc.toml` of a workspace, or another file with the same keys. The legacy table `[mens]` is an alias of
 * `[mesh]`, and ignored if both exist.
 * @throws config_unparsable with line and column; file_not_found, file_unreadable
 */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  return {path, ...renameLegacyTable(path, await readToml(path))}
}

/**
 * Reads `.svc/config.toml` in the home directory, which `HOME` or `USERPROFILE` names; undefined if it does not exist.
 * @throws config_unparsable with line and column; file_unreadable
 */
export async function readUserConfig(
  env: Readonly<Record<string, string | undefined>>,
): Promise<ConfigFile | undefined> {
  const home = (env.HOME ?? env.USERPROFILE)?.trim()
  const path = home ? join(resolve(home), '.svc', 'config.toml') : undefined
  return path !== undefined && existsSync(path) ? readConfigFile(path) : undefined
}

/** Maximum size of a settings file, in bytes. */
const maxFileBytes = 2 ** 20

/**
 * Reads the values of a TOML file.
 * @throws config_unparsable with line and column; file_not_found, file_unreadable
 */
export async function readToml(path: string): Promise<Record<string, unknown>> {
  const source = await readSource(path).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  const {parse, TomlError} = await import('smol-toml')
  try {
    return parse(source)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const reason = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '')
    throw new SvcError(
      'config_unparsable',
      {file: path, line: error.line, column: error.column, reason},
      {cause: error},
    )
  }
}

async function readSource(path: string): Promise<string> {
  const found = await stat(path)
  const unreadable = (reason: string) => new SvcError('file_unreadable', {path, reason})
  // Reading a device or a pipe may never end.
  if (!found.isFile()) throw unreadable(found.isDirectory() ? 'it is a directory' : 'it is not a regular file')
  if (found.size > maxFileBytes) throw unreadable(`it is larger than ${maxFileBytes} bytes`)
  return readFile(path, 'utf8')
}

function renameLegacyTable(path: string, data: Record<string, unknown>): Pick<ConfigFile, 'data' | 'warnings'> {
  const {mens, ...rest} = data
  if (mens === undefined) return {data, warnings: []}
  const both = rest.mesh !== undefined
  const message = both
    ? `${path}: [mens] is ignored because [mesh] exists; remove [mens].`
    : `${path}: [mens] is deprecated; rename it to [mesh].`
  return {
    data: both ? rest : {...rest, mesh: mens},
    warnings: [{code: 'config_table_deprecated', subject: 'mens', message}],
  }
}
