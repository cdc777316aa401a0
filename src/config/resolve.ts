import {nearest, SvcError} from '../errors/index.js'
import type {EnvFile} from './env-file.js'
import type {ConfigFile} from './file.js'
import type {Setting, SettingRows, SettingTable} from './setting.js'
import {isTable} from './toml.js'
import type {SettingType} from './types.js'
import type {SettingWarning} from './warning.js'

/**
 * Kinds of sources, the strongest first; `env-file` is a `mesh.env`, `speech-config` the file of `SVC_SPEECH_CONFIG`,
 * `file` is `Svc.toml`.
 */
export type OriginSource = 'flag' | 'env' | 'env-file' | 'speech-config' | 'file' | 'default'

/**
 * Where a value came from: `flag --threads`, `env SVC_THREADS`, `env-file SVC_MESH_TOKEN in PATH`,
 * `speech-config beam_size`, `file engine.threads`.
 */
export interface Origin {
  source: OriginSource
  name?: string
}

/** A value that was given but lost to a source of higher precedence. */
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
  /** Values already parsed by the command line, by setting name. */
  flags?: Readonly<Record<string, unknown>>
  env: Readonly<Record<string, string | undefined>>
  /** The secrets of a mesh, and what else of it stands in the files beside them. */
  envFile?: EnvFile | undefined
  /** The file that `SVC_SPEECH_CONFIG` names. */
  speechConfig?: ConfigFile | undefined
  /** `Svc.toml`. */
  file?: ConfigFile | undefined
}

type Value<S> = S extends {type: {parse(text: string): infer T}; default: infer D}
  ? D extends undefined
    ? T
    : Exclude<T, undefined>
  : S extends {type: {parse(text: string): infer T}}
    ? T | undefined
    : never

/** The values of a table, typed: a row with a default always has one. */
export type SettingValues<R extends SettingRows> = {-readonly [K in keyof R]: Value<R[K]>}

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
 * The value of every setting of a table. Precedence: flag, environment, files of variables, the file of
 * `SVC_SPEECH_CONFIG`, `Svc.toml` (in the order of the row's keys), the variable that implies it, default. Pure: everything it reads is passed in.
 *
 * An unreadable variable is a warning and changes nothing, but for those of strict settings.
 * @throws config_variable when a variable of a strict setting cannot be read
 * @throws config_type when the file gives a value of another type: silence would hide the typo
 */
export function resolveSettings<R extends SettingRows>(
  table: SettingTable<R>,
  {flags = {}, env, envFile, speechConfig, file}: SettingSources,
): Resolution<R> {
  const warnings: SettingWarning[] = []
  const resolved = Object.entries(table.rows).map(([name, setting]): ResolvedSetting => {
    const candidates = [
      ...fromFlag(name, setting, flags),
      ...fromEnvironment(setting, env, warnings),
      ...fromEnvFile(setting, envFile, warnings),
      ...fromSpeechConfig(setting, speechConfig),
      ...fromFile(setting, file),
      ...fromImplied(setting, env, envFile),
    ]
    const [winner, ...losers] = candidates
    if (winner?.value !== undefined && setting.planned) warnings.push(plannedWarning(winner.name ?? name))
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

const plannedWarning = (subject: string): SettingWarning => ({
  code: 'config_planned',
  subject,
  message: `${subject} is planned: this version ignores it.`,
})

/** Settings are written as in TOML: `engine.num_ctx`. */
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
  const warn = (refused: string, consequence: string) => {
    const message = `${variable} must be ${setting.type.expected}, not ${refused}; ${consequence}.`
    warnings.push({code: 'config_env_invalid', subject: variable, message})
  }
  const quoted = (words: readonly string[]) =>
    setting.secret ? 'its value' : words.map((word) => `"${withoutCredentials(word)}"`).join(', ')
  const value = setting.type.parse(trimmed)
  const skipped = setting.type.skips?.(trimmed) ?? []
  if (value === undefined && setting.strict)
    throw new SvcError('config_variable', {variable, expected: setting.type.expected, found: quoted([trimmed])})
  if (value === undefined) warn(quoted([trimmed]), 'the variable is ignored')
  else if (skipped.length > 0) warn(quoted(skipped), 'the rest of the variable counts')
  return value === undefined ? unset : value
}

/** The keys of `[speech]` that a setting reads, without the heading: those of the file of `SVC_SPEECH_CONFIG`. */
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
 * What a value of a file means to a setting; undefined where there is none, or a blank one.
 * @throws config_type
 */
export function acceptValue(setting: Setting, raw: unknown, {file, key}: {file: string; key: string}): unknown {
  if (raw === undefined) return undefined
  if (typeof raw === 'string' && raw.trim() === '') return undefined
  const value = setting.type.accept(typeof raw === 'string' ? raw.trim() : raw)
  if (value !== undefined) return value
  const fault = faultOf(setting.type, raw, key)
  const found = setting.secret ? 'what it is set to' : describe(fault.raw)
  throw new SvcError('config_type', {file, key: fault.key, expected: fault.expected, found})
}

/** What is wrong in a refused value: the value itself, or the first one of a table that its type does not take. */
function faultOf({entries, expected}: SettingType<unknown>, raw: unknown, key: string) {
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

/** User and password of an address that was refused because it has them. */
const withoutCredentials = (text: string) => text.replace(/(\/\/)[^/"]*@/g, '$1…@')

/**
 * Keys of the file that no setting of any table reads, each with the nearest known key. A file written for a newer
 * version keeps working: unknown keys are warnings.
 * @throws config_type when a table stands where a value belongs, or the reverse
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
      // A dot inside a quoted name is a character of the name, not a step into a table.
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
          message: `${file.path}: no setting reads ${key}.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`,
        },
      ]
    })
  return visit(file.data, '')
}
