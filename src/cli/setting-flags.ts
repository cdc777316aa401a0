import {Flags} from '@oclif/core'
import type {CustomOptions, OptionFlag} from '@oclif/core/interfaces'
import type {SettingRows, SettingTable} from '../config/index.js'
import {SvcError} from '../errors/index.js'

type SettingFlags = Record<string, OptionFlag<unknown | undefined, CustomOptions>>

/** The flags that the rows of a table declare, or those of the named rows. A flag has no default of its own: the setting's sources come after it. */
export function settingFlags<R extends SettingRows>(table: SettingTable<R>, ...names: (keyof R)[]): SettingFlags {
  return Object.fromEntries(
    Object.entries(table.rows).flatMap(([name, {flag, type, doc, default: fallback, env = []}]) => {
      if (flag === undefined || (names.length > 0 && !names.includes(name))) return []
      const sources = [fallback === undefined ? [] : `default ${fallback}`, ...env].flat()
      const build = Flags.custom<unknown>({
        description: sources.length === 0 ? doc : `${doc} (${sources.join(', ')})`,
        helpValue: type.options === undefined ? 'VALUE' : type.options.join('|'),
        ...(type.options === undefined ? {} : {options: [...type.options]}),
        parse: async (value) => {
          const parsed = type.parse(value)
          if (parsed === undefined)
            throw new SvcError('flag_value', {flag: `--${flag}`, value, expected: type.expected})
          return parsed
        },
      })
      return [[flag, build()]]
    }),
  )
}
