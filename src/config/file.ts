import {readFile} from 'node:fs/promises'
import {SvcError} from '../errors/index.js'
import type {SettingWarning} from './warning.js'

/** A parsed `Svc.toml`. */
export interface ConfigFile {
  path: string
  data: Record<string, unknown>
  warnings: SettingWarning[]
}

/**
 * Reads a workspace file. The legacy table `[mens]` is read as `[mesh]`; where both stand, `[mesh]` alone counts.
 * @throws config_unparsable with line and column; file_not_found, file_unreadable
 */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  const source = await readFile(path, 'utf8').catch((error: unknown) => {
    throw SvcError.from(error)
  })
  const {parse, TomlError} = await import('smol-toml')
  try {
    return {path, ...renameLegacyTable(path, parse(source))}
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

function renameLegacyTable(path: string, data: Record<string, unknown>): Pick<ConfigFile, 'data' | 'warnings'> {
  const {mens, ...rest} = data
  if (mens === undefined) return {data, warnings: []}
  const both = rest.mesh !== undefined
  const message = both
    ? `${path}: [mens] is ignored because [mesh] is there; remove it.`
    : `${path}: the table [mens] is now called [mesh]; rename it.`
  return {
    data: both ? rest : {...rest, mesh: mens},
    warnings: [{code: 'config_table_deprecated', subject: 'mens', message}],
  }
}
