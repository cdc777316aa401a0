import type {SettingType} from './types.js'

/** One setting. Sources are listed in their order of precedence; a flag always comes before them. */
export interface Setting<T = unknown> {
  type: SettingType<T>
  /** The value when no source gives one; undefined means unset. */
  default?: T
  /** One sentence for the manual. */
  doc: string
  /** Long name of the command flag, without dashes. */
  flag?: string
  /** Its short form, one letter. */
  char?: string
  env?: readonly string[]
  /** A variable that means more than this setting, and sets it where nothing else does. */
  implied?: {variable: string; read(text: string): T | undefined}
  /** Dotted TOML keys, such as `mesh.control_url`. */
  toml?: readonly string[]
  /** Those of `env` whose empty value clears what the file says; any other empty variable is no value. */
  clears?: readonly string[]
  /** Never shown: `config show` prints only that it is set. */
  secret?: true
  /** Nothing reads it in this version. It is left out of help and manual, and setting it is a warning. */
  planned?: true
  /** A variable that cannot be read is an error. Of other settings it is a warning, and changes nothing. */
  strict?: true
}

// biome-ignore lint/suspicious/noExplicitAny: a table holds settings of every type
export type SettingRows = Record<string, Setting<any>>

/** The settings of one subject, by name. */
export interface SettingTable<R extends SettingRows = SettingRows> {
  readonly name: string
  readonly rows: R
}

/** Declares a table of settings, built when it is first read; names are unique within it. */
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
 * As `settings`, for the section of `Svc.toml` that is named like the table: the key of a setting is its name in snake
 * case, unless the row lists others.
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
