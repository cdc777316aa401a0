import {dirname} from 'node:path'
import {isErrorOf, nearest, SvcError} from '../errors/index.js'
import type {EnvFile} from './env-file.js'
import type {ConfigFile} from './file.js'
import type {Setting, SettingRows, SettingTable} from './setting.js'
import {isTable} from './toml.js'
import type {SettingType} from './types.js'
import type {SettingWarning} from './warning.js'

/**
 * Kinds of sources, by descending precedence. `env-file` is a `mesh.env`, `speech-config` the file that
 * `SVC_SPEECH_CONFIG` names, `file` is `Svc.toml`, `user-file` is `~/.svc/config.toml`.
 */
export type OriginSource = 'flag' | 'env' | 'env-file' | 'speech-config' | 'file' | 'user-file' | 'default'

/**
 * Source of a value: `flag --threads`, `env SVC_THREADS`, `env-file SVC_MESH_TOKEN in PATH`, `speech-config beam_size`,
 * `file engine.threads`, `user-file engine.threads in PATH`.
 */
export interface Origin {
  source: OriginSource
  name?: string
}

/** A value that a source of higher precedence overrides. */
export interface Overridden extends Origin {
  value: unknown
}

export interface ResolvedSetting {
  name: string
  setting: Setting
  value: unknown
  origin: Origin
  overridden: Overridden[]
}

export interface SettingSources {
  /** Parsed values of flags, by setting name. */
  flags?: Readonly<Record<string, unknown>>
  env: Readonly<Record<string, string | undefined>>
  /** Variables of the `mesh.env` files, including the secrets of a mesh. */
  envFile?: EnvFile | undefined
  /** The file that `SVC_SPEECH_CONFIG` names. */
  speechConfig?: ConfigFile | undefined
  /** `Svc.toml`. */
  file?: ConfigFile | undefined
  /** `~/.svc/config.toml`. */
  userFile?: ConfigFile | undefined
}

type Value<S> = S extends {type: {parse(text: string): infer T}; default: infer D}
  ? D extends undefined
    ? T
    : Exclude<T, undefined>
  : S extends {type: {parse(text: string): infer T}}
    ? T | undefined
    : never

/** Typed values of a table: a row with a default always has a value. */
export type SettingValues<R extends SettingRows> = {-readonly [K in keyof R]: Value<R[K]>}

/** Typed values of the table of this type. */
export type TableValues<T> = T extends SettingTable<infer R> ? SettingValues<R> : never

export interface Resolution<R extends SettingRows> {
  values: SettingValues<R>
  settings: ResolvedSetting[]
  warnings: SettingWarning[]
}

interface Candidate extends Origin {
  value: unknown
}

const unset = Symbol('unset')

/**
 * Resolves every setting of a table. Precedence: flag, environment, `mesh.env` files, the file that `SVC_SPEECH_CONFIG`
 * names, `Svc.toml` and then `~/.svc/config.toml` (each in the order of the row's keys), the `implied` variable, default.
 * Pure: all input is passed in.
 *
 * An invalid variable is ignored with a warning, except for strict settings.
 * @throws config_variable if a variable of a strict setting is invalid
 * @throws config_type if a file contains a value of the wrong type: ignoring it would hide a typo
 * @throws config_user_only if `Svc.toml` contains a setting that only the file of the user may contain
 */
export function resolveSettings<R extends SettingRows>(
  table: SettingTable<R>,
  {flags = {}, env, envFile, speechConfig, file, userFile}: SettingSources,
): Resolution<R> {
  const warnings: SettingWarning[] = []
  const resolved = Object.entries(table.rows).map(([name, setting]): ResolvedSetting => {
    const candidates = [
      ...fromFlag(name, setting, flags),
      ...fromEnvironment(setting, env, warnings),
      ...fromEnvFile(setting, envFile, warnings),
      ...fromSpeechConfig(setting, speechConfig),
      ...anchored(setting, fromWorkspaceFile(setting, file), file),
      ...fromUserFile(setting, userFile),
      ...fromImplied(setting, env, envFile),
    ]
    const [winner, ...losers] = candidates
    return {
      name: `${table.name}.${snakeCase(name)}`,
      setting,
      value: winner?.value ?? setting.default,
      origin: winner === undefined ? {source: 'default'} : origin(winner),
      overridden: losers.map((loser) => ({...origin(loser), value: loser.value})),
    }
  })
  const values = Object.fromEntries(Object.keys(table.rows).map((name, i) => [name, resolved[i]?.value]))
  return {values: values as SettingValues<R>, settings: resolved, warnings}
}

/** Setting names are spelled as in TOML: `engine.num_ctx`. */
const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const origin = ({source, name}: Candidate): Origin => (name === undefined ? {source} : {source, name})

function fromFlag(name: string, setting: Setting, flags: Readonly<Record<string, unknown>>): Candidate[] {
  return flags[name] === undefined ? [] : [{source: 'flag', name: `--${setting.flag ?? name}`, value: flags[name]}]
}

function fromEnvironment(setting: Setting, env: SettingSources['env'], warnings: SettingWarning[]): Candidate[] {
  return (setting.env ?? []).flatMap((variable): Candidate[] => {
    const value = readVariable(setting, variable, env[variable], warnings)
    return value === unset ? [] : [{source: 'env', name: variable, value}]
  })
}

function fromEnvFile(setting: Setting, files: EnvFile | undefined, warnings: SettingWarning[]): Candidate[] {
  if (files === undefined) return []
  return (setting.env ?? []).flatMap((variable): Candidate[] => {
    const name = `${variable} in ${files.origins[variable]}`
    const value = readVariable(setting, name, files.values[variable], warnings)
    return value === unset ? [] : [{source: 'env-file', name, value}]
  })
}

function readVariable(setting: Setting, variable: string, raw: string | undefined, warnings: SettingWarning[]) {
  const trimmed = raw?.trim()
  if (trimmed === undefined) return unset
  if (trimmed === '') return setting.clears?.includes(variable) ? undefined : unset
  const warn = (rejected: string, consequence: string) => {
    const message = `${variable} must be ${setting.type.expected}, not ${rejected}; ${consequence}.`
    warnings.push({code: 'config_env_invalid', subject: variable, message})
  }
  const quoted = (words: readonly string[]) =>
    setting.secret ? 'the current value' : words.map((word) => `"${withoutCredentials(word)}"`).join(', ')
  const value = setting.type.parse(trimmed)
  const skipped = setting.type.skips?.(trimmed) ?? []
  if (value === undefined && setting.strict)
    throw new SvcError('config_variable', {variable, expected: setting.type.expected, found: quoted([trimmed])})
  if (value === undefined) warn(quoted([trimmed]), 'the variable is ignored')
  else if (skipped.length > 0) warn(quoted(skipped), 'unknown words are ignored')
  return value === undefined ? unset : value
}

/** Keys of a setting in `[speech]`, without the heading, as used in the file that `SVC_SPEECH_CONFIG` names. */
export const speechKeys = ({toml = []}: Setting): string[] =>
  toml.filter((key) => key.startsWith('speech.')).map((key) => key.slice('speech.'.length))

function fromSpeechConfig(setting: Setting, file: ConfigFile | undefined): Candidate[] {
  if (file === undefined) return []
  return speechKeys(setting).flatMap((name): Candidate[] => {
    const value = acceptValue(setting, file.data[name], {file: file.path, key: name})
    return value === undefined ? [] : [{source: 'speech-config', name, value}]
  })
}

function fromFile(setting: Setting, file: ConfigFile | undefined): Candidate[] {
  if (file === undefined) return []
  return (setting.toml ?? []).flatMap((key): Candidate[] => {
    const value = acceptValue(setting, lookup(file.data, key.split('.')), {file: file.path, key})
    return value === undefined ? [] : [{source: 'file', name: key, value}]
  })
}

/** @throws config_user_only, config_type */
function fromWorkspaceFile(setting: Setting, file: ConfigFile | undefined): Candidate[] {
  const found = fromFile(setting, file)
  const [first] = found
  if (setting.userOnly && first !== undefined)
    throw new SvcError('config_user_only', {file: file?.path ?? 'Svc.toml', key: first.name ?? ''})
  return found
}

/** Relative paths in `Svc.toml` start at its directory, so that commands in subdirectories find the same files. */
const anchored = ({type}: Setting, candidates: Candidate[], file: ConfigFile | undefined): Candidate[] =>
  type.anchor === undefined || file === undefined
    ? candidates
    : candidates.map(({value, ...rest}) => ({...rest, value: type.anchor?.(value, dirname(file.path))}))

const fromUserFile = (setting: Setting, file: ConfigFile | undefined): Candidate[] =>
  fromFile(setting, file).map(({name, value}) => ({source: 'user-file', name: `${name} in ${file?.path}`, value}))

function fromImplied({implied}: Setting, env: SettingSources['env'], files: SettingSources['envFile']): Candidate[] {
  if (implied === undefined) return []
  const {variable, read} = implied
  const own = env[variable]?.trim()
  const text = own || files?.values[variable]?.trim()
  const value = text ? read(text) : undefined
  if (value === undefined) return []
  return own
    ? [{source: 'env', name: variable, value}]
    : [{source: 'env-file', name: `${variable} in ${files?.origins[variable]}`, value}]
}

/**
 * Converts a value of a file to the type of a setting; undefined if it is missing or blank.
 * @throws config_type
 */
export function acceptValue(setting: Setting, raw: unknown, {file, key}: {file: string; key: string}): unknown {
  if (raw === undefined) return undefined
  if (typeof raw === 'string' && raw.trim() === '') return undefined
  const value = setting.type.accept(typeof raw === 'string' ? raw.trim() : raw)
  if (value !== undefined) return value
  const invalid = invalidPart(setting.type, raw, key)
  const found = setting.secret ? 'the current value' : describe(invalid.raw)
  throw new SvcError('config_type', {file, key: invalid.key, expected: invalid.expected, found})
}

/**
 * Checks all values of a settings file, even those that no module of this process reads.
 * @throws config_type with every invalid value
 */
export function checkValues(tables: readonly SettingTable[], file: ConfigFile): void {
  const faults = new Map<string, SvcError<'config_type'>>()
  for (const setting of tables.flatMap(({rows}) => Object.values(rows)))
    try {
      fromFile(setting, file)
    } catch (error) {
      if (!isErrorOf(error, 'config_type')) throw error
      faults.set(error.params.key, error)
    }
  const [first, ...others] = faults.values()
  if (first === undefined) return
  const rest = others.map(({params: {key, expected, found}}) => `${key} must be ${expected}, not ${found}`)
  throw rest.length === 0 ? first : new SvcError('config_type', {...first.params, others: rest})
}

/** The invalid part of a rejected value: the value itself, or the first invalid entry of a table. */
function invalidPart({entries, expected}: SettingType<unknown>, raw: unknown, key: string) {
  const wrong =
    entries && isTable(raw) ? Object.entries(raw).find(([, value]) => entries.accept(value) === undefined) : undefined
  return entries && wrong
    ? {key: `${key}.${wrong[0]}`, expected: entries.expected, raw: wrong[1]}
    : {key, expected, raw}
}

function lookup(data: unknown, keys: readonly string[]): unknown {
  let node = data
  for (const key of keys) {
    if (!isTable(node)) return undefined
    node = node[key]
  }
  return node
}

const describe = (value: unknown): string => {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isNaN(value) ? 'nan' : String(value).replace('Infinity', 'inf')
  if (isTable(value)) return 'a table'
  return withoutCredentials(JSON.stringify(value))
}

/** Hides the credentials of a URL, which may be the reason why it was rejected. */
const withoutCredentials = (text: string) => text.replace(/(\/\/)[^/"]*@/g, '$1…@')

/**
 * Warnings for keys of the file that are not settings, each with the nearest known key. They are not errors, so that a
 * file for a newer version keeps working.
 * @throws config_type if a table is used instead of a value, or the reverse
 */
export function unknownKeys(tables: readonly SettingTable[], file: ConfigFile): SettingWarning[] {
  const known = tables.flatMap((table) => Object.values(table.rows).flatMap((setting) => setting.toml ?? []))
  const prefixes = new Set(
    known.flatMap((key) =>
      key
        .split('.')
        .slice(0, -1)
        .map((_, i, parts) => parts.slice(0, i + 1).join('.')),
    ),
  )
  const visit = (node: Record<string, unknown>, prefix: string): SettingWarning[] =>
    Object.entries(node).flatMap(([name, value]) => {
      const key = prefix + name
      // A dot in a quoted name is part of the name and does not separate tables.
      const quoted = name.includes('.')
      if (!quoted && known.includes(key)) return []
      if (!quoted && prefixes.has(key)) {
        if (isTable(value)) return visit(value, `${key}.`)
        throw new SvcError('config_type', {file: file.path, key, expected: 'a table', found: describe(value)})
      }
      const suggestion = nearest(key, [...known, ...prefixes])
      return [
        {
          code: 'config_key_unknown',
          subject: key,
          message: `${file.path}: unknown setting ${key}.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`,
        },
      ]
    })
  return visit(file.data, '')
}
