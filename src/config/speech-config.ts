import {nearest, SvcError} from '../errors/index.js'
import {type ConfigFile, readToml} from './file.js'
import {acceptValue, speechKeys} from './resolve.js'
import type {Setting, SettingTable} from './setting.js'
import type {SettingWarning} from './warning.js'

/**
 * Reads the file that `SVC_SPEECH_CONFIG` names: the keys of `[speech]` at the top level, without the heading. It never
 * stops a command: a file that is missing, is no TOML or has a value of a wrong type is left out as a whole, with one
 * warning; keys that no setting reads are warnings, as in `Svc.toml`.
 */
export async function readSpeechConfig(path: string, tables: readonly SettingTable[]): Promise<ConfigFile> {
  try {
    const data = await readToml(path)
    return {path, data, warnings: checkValues({path, data}, readers(tables))}
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    const message = `SVC_SPEECH_CONFIG is ignored: ${error.message}`
    return {path, data: {}, warnings: [{code: 'speech_config_ignored', subject: path, message}]}
  }
}

/** Every key of the file, with the setting that reads it. */
const readers = (tables: readonly SettingTable[]): ReadonlyMap<string, Setting> =>
  new Map(
    tables
      .flatMap(({rows}) => Object.values(rows))
      .flatMap((setting) => speechKeys(setting).map((key) => [key, setting] as const)),
  )

/**
 * A warning for each key that no setting reads.
 * @throws config_type
 */
function checkValues(
  {path, data}: Omit<ConfigFile, 'warnings'>,
  known: ReadonlyMap<string, Setting>,
): SettingWarning[] {
  return Object.entries(data).flatMap(([key, raw]): SettingWarning[] => {
    const setting = known.get(key)
    if (setting === undefined) return [unknownKey(path, key, [...known.keys()])]
    acceptValue(setting, raw, {file: path, key})
    return []
  })
}

function unknownKey(path: string, key: string, known: readonly string[]): SettingWarning {
  const suggestion = nearest(key, known)
  const meant = suggestion === undefined ? '' : ` Did you mean ${suggestion}?`
  return {code: 'config_key_unknown', subject: key, message: `${path}: no setting reads ${key}.${meant}`}
}
