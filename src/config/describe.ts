import {type Origin, type Overridden, resolveSettings, type SettingSources} from './resolve.js'
import type {SettingTable} from './setting.js'
import {settingTables} from './tables/index.js'
import type {SettingWarning} from './warning.js'

/** A setting as `svc config show` prints it; a secret shows only that it is set. */
export interface DescribedSetting {
  name: string
  value: unknown
  origin: Origin
  overridden: Overridden[]
  env: string[]
  toml: string[]
  takes: string
  doc: string
  /** This version does not use it. */
  planned: boolean
}

/** Every setting, or those of some tables, with its value, its origin and the sources that lost. */
export function describeSettings(
  sources: SettingSources,
  tables: readonly SettingTable[] = settingTables,
): {settings: DescribedSetting[]; warnings: SettingWarning[]} {
  const resolutions = tables.map((table) => resolveSettings(table, sources))
  const settings = resolutions.flatMap(({settings}) =>
    settings.map(({name, setting, value, origin, overridden}): DescribedSetting => {
      const show = (shown: unknown) => (shown === undefined ? null : setting.secret ? '(set)' : shown)
      return {
        name,
        value: show(value),
        origin,
        overridden: overridden.map((loser) => ({...loser, value: show(loser.value)})),
        env: [...(setting.env ?? [])],
        toml: [...(setting.toml ?? [])],
        takes: setting.type.expected,
        doc: setting.doc,
        planned: setting.planned === true,
      }
    }),
  )
  return {settings, warnings: unique(resolutions.flatMap(({warnings}) => warnings))}
}

/** A variable that two settings read is reported once. */
const unique = (warnings: readonly SettingWarning[]) => [
  ...new Map(warnings.map((warning) => [`${warning.code} ${warning.subject}`, warning])).values(),
]
