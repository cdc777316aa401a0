import type {SettingType} from './types.js'

/** Headings of flags in the help of commands that have many, as in AUDIO FLAGS. */
export type FlagGroup =
  | 'adapters'
  | 'audio'
  | 'capacity'
  | 'completion'
  | 'decoding'
  | 'execution'
  | 'generation'
  | 'id'
  | 'limit'
  | 'model'
  | 'network'
  | 'output'
  | 'placement'
  | 'planning'
  | 'recognition'
  | 'route'
  | 'structured output'
  | 'subtitle'
  | 'text'
  | 'voice detection'

/** One setting. Sources are listed in order of precedence; a flag always overrides them. */
export interface Setting<T = unknown> {
  type: SettingType<T>
  /** Value if no source sets one; undefined means unset. */
  default?: T
  /** One sentence or noun phrase for help and manual. */
  doc: string
  /** Long name of the command flag, without dashes. */
  flag?: string
  /** Short form of the flag, one letter. */
  char?: string
  /** Heading of the flag in help. */
  group?: FlagGroup
  /** Placeholder for the value of the flag in help, instead of one derived from the type or the name. */
  placeholder?: string
  env?: readonly string[]
  /** A variable with a wider purpose, from which this setting is derived if no other source sets it. */
  implied?: {variable: string; read(text: string): T | undefined}
  /** Dotted TOML keys, such as `mesh.control_url`. */
  toml?: readonly string[]
  /** Variables of `env` that unset the value of the file if empty; other empty variables count as not set. */
  clears?: readonly string[]
  /** Set only in `~/.svc/config.toml`, because workers can read and change `Svc.toml`. */
  userOnly?: true
  /** Never printed: `config show` prints only that it is set. */
  secret?: true
  /** An invalid variable is an error. For other settings it is ignored with a warning. */
  strict?: true
}

// biome-ignore lint/suspicious/noExplicitAny: a table holds settings of every type
export type SettingRows = Record<string, Setting<any>>

/** Settings of one subject, by name. */
export interface SettingTable<R extends SettingRows = SettingRows> {
  readonly name: string
  readonly rows: R
}

/** Declares a table of settings, which is built on first access. Names are unique within a table. */
export function settings<const R extends SettingRows>(name: string, declare: () => R): SettingTable<R> {
  let rows: R | undefined
  return {
    name,
    get rows() {
      rows ??= declare()
      return rows
    },
  }
}

/**
 * Like `settings`, for a table that is a section of `Svc.toml` of the same name. The key of a setting is its name in
 * snake case unless the row lists other keys.
 */
export const sectionSettings = <const R extends SettingRows>(name: string, declare: () => R): SettingTable<R> =>
  settings(
    name,
    () =>
      Object.fromEntries(
        Object.entries(declare()).map(([key, row]) => [key, {toml: [`${name}.${snakeCase(key)}`], ...row}]),
      ) as R,
  )

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
