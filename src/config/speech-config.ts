import {nearest, SvcError} from '../errors/index.js'
import {type ConfigFile, readToml} from './file.js'
import {acceptValue, speechKeys} from './resolve.js'
import type {Setting, SettingTable} from './setting.js'
import type {SettingWarning} from './warning.js'

/**
 * Reads the file that `SVC_SPEECH_CONFIG` names: the keys of `[speech]` at the top level, without the heading. It never
 * fails a command: a file that is missing, is not valid TOML or contains a value of the wrong type is ignored completely,
 * with one warning. Unknown keys are warnings, as in `Svc.toml`.
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

/** The keys that the file can contain, each with its setting. */
const readers = (tables: readonly SettingTable[]): ReadonlyMap<string, Setting> =>
  new Map(
    tables
      .flatMap(({rows}) => Object.values(rows))
      .flatMap((setting) => speechKeys(setting).map((key) => [key, setting] as const)),
  )

/**
 * Returns a warning for each unknown key.
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
  return {code: 'config_key_unknown', subject: key, message: `${path}: unknown setting ${key}.${meant}`}
}
