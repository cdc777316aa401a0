import {Flags} from '@oclif/core'
import type {AlphabetLowercase, BooleanFlag, CustomOptions, OptionFlag} from '@oclif/core/interfaces'
import type {Setting, SettingRows, SettingTable} from '../config/index.js'
import {SvcError} from '../errors/index.js'
import {splitDefault} from './default-note.js'

type SettingFlag = OptionFlag<unknown | undefined, CustomOptions> | BooleanFlag<boolean | undefined>

/**
 * The flags of all settings of a table, or of the named ones. They have no oclif default: without the flag, the other
 * sources of the setting apply.
 */
export function settingFlags<R extends SettingRows>(
  table: SettingTable<R>,
  ...names: (keyof R)[]
): Record<string, SettingFlag> {
  return Object.fromEntries(
    Object.entries(table.rows).flatMap(([name, setting]) => {
      if (setting.flag === undefined || (names.length > 0 && !names.includes(name))) return []
      return [[setting.flag, setting.type.switch ? switchFlag(setting) : valueFlag(setting.flag, setting)]]
    }),
  )
}

/** `--x` and `--no-x`. */
const switchFlag = (setting: Setting): SettingFlag =>
  Flags.boolean({...common(setting), allowNo: true}) as BooleanFlag<boolean | undefined>

function valueFlag(flag: string, setting: Setting): SettingFlag {
  const type = setting.type.exact ?? setting.type
  const build = Flags.custom<unknown>({
    ...common(setting),
    ...(type.options === undefined ? placeholderOf(setting) : {options: [...type.options]}),
    parse: async (value) => {
      const parsed = type.parse(value)
      if (parsed === undefined) throw new SvcError('flag_value', {flag: `--${flag}`, value, expected: type.expected})
      return parsed
    },
  })
  return build()
}

function placeholderOf({placeholder, type}: Setting) {
  const {expected} = type.exact ?? type
  const derived = expected === 'a path' ? 'PATH' : expected.includes('number') ? 'N' : undefined
  const helpValue = placeholder ?? derived
  return helpValue === undefined ? {} : {helpValue}
}

const common = (setting: Setting) => ({
  description: describe(setting),
  ...(setting.group === undefined ? {} : {helpGroup: setting.group}),
  ...(setting.char === undefined ? {} : {char: setting.char as AlphabetLowercase}),
})

/** The description of the setting with its default and its environment variables, which the flag overrides. */
function describe({doc, default: fallback, env = [], implied}: Setting): string {
  const {text, computed} = splitDefault(doc)
  const value = computed ?? (fallback === undefined ? '' : shown(fallback))
  const variables = [...env, ...(implied ? [implied.variable] : [])].join(', ')
  const notes = [value && `default: ${value}`, variables && `env: ${variables}`]
    .filter((note) => note !== '')
    .join('; ')
  return notes === '' ? doc : `${text} (${notes})`
}

const shown = (value: unknown): string => (typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value))
