import {type Origin, type Overridden, resolveSettings, type SettingSources} from './resolve.js'
import type {SettingTable} from './setting.js'
import {settingTables} from './tables/index.js'
import type {SettingWarning} from './warning.js'

/** A setting as printed by `svc config show`; the value of a secret is only `(set)`. */
export interface DescribedSetting {
  name: string
  value: unknown
  origin: Origin
  overridden: Overridden[]
  env: string[]
  toml: string[]
  takes: string
  doc: string
}

/** All settings, or those of some tables, with value, origin and overridden sources. */
export function describeSettings(
  sources: SettingSources,
  tables: readonly SettingTable[] = settingTables,
): {settings: DescribedSetting[]; warnings: SettingWarning[]} {
  const resolutions = tables.map((table) => resolveSettings(table, sources))
  const settings = resolutions.flatMap(({settings}) =>
    settings.map(({name, setting, value, origin, overridden}): DescribedSetting => {
      const show = (resolved: unknown) => (resolved === undefined ? null : setting.secret ? '(set)' : resolved)
      return {
        name,
        value: show(value),
        origin,
        overridden: overridden.map((loser) => ({...loser, value: show(loser.value)})),
        env: [...(setting.env ?? [])],
        toml: [...(setting.toml ?? [])],
        takes: setting.type.expected,
        doc: setting.doc,
      }
    }),
  )
  return {settings, warnings: unique(resolutions.flatMap(({warnings}) => warnings))}
}

/** A warning about a variable that two settings read is reported once. */
const unique = (warnings: readonly SettingWarning[]) => [
  ...new Map(warnings.map((warning) => [`${warning.code} ${warning.subject}`, warning])).values(),
]
