import {existsSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {readToml} from '../config/index.js'
import {isObject} from '../contracts/index.js'
import {isErrorOf, nearest, SvcError} from '../errors/index.js'

/** The file in a model directory that declares how the model is used. */
export const defaultsFile = 'svc.model.toml'

interface ParameterBounds {
  min?: number
  max?: number
  isInteger?: boolean
}

/** Wide enough for any use, but narrow enough to keep logits finite. */
const penalty = {min: -100, max: 100}

/** Parameters of replies that a model can declare, by their names in Ollama's Modelfile, with the bounds of their values. */
export const modelParameters = {
  temperature: {min: 0},
  /** Below 1 means all tokens, as in llama.cpp. */
  top_k: {isInteger: true},
  top_p: {min: 0, max: 1},
  min_p: {min: 0, max: 1},
  /** -1 selects a random one. */
  seed: {isInteger: true},
  repeat_penalty: {min: 0.01, max: 100},
  presence_penalty: penalty,
  frequency_penalty: penalty,
  repeat_last_n: {isInteger: true, min: -1},
  /** -1 and -2: until the context is full; 0: the default of the server. */
  num_predict: {isInteger: true, min: -2},
  num_ctx: {isInteger: true, min: 1},
} as const satisfies Record<string, ParameterBounds>

export type ParameterName = keyof typeof modelParameters
export type ModelParameters = Readonly<Partial<Record<ParameterName, number>>>

const roles = ['system', 'user', 'assistant'] as const

/** How a model is used unless a request says otherwise. */
export interface ModelDefaults {
  /** System message of conversations without one. */
  system?: string
  /** File with the chat template. */
  template?: string
  /** Stop strings. */
  stop?: readonly string[]
  /** Messages before those of a conversation. */
  messages?: readonly {role: (typeof roles)[number]; content: string}[]
  license?: string
  parameters: ModelParameters
}

/** The defaults of a directory, and the model that it is a variant of. */
export interface ModelFile extends ModelDefaults {
  /** Directory or id of another model, which this directory only gives other defaults. */
  from?: string
  /** Directory of an adapter for that model. */
  adapter?: string
}

/** What a value of a parameter must be, if it is not that. */
export function parameterFault(name: string, value: unknown): string | undefined {
  if (!isParameter(name)) {
    const suggestion = nearest(name, Object.keys(modelParameters))
    return `${name} is not a parameter${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`
  }
  const {min = -Infinity, max = Infinity, isInteger = false}: ParameterBounds = modelParameters[name]
  const isNumber = isInteger ? Number.isSafeInteger(value) : Number.isFinite(value)
  if (isNumber && (value as number) >= min && (value as number) <= max) return undefined
  const range = max < Infinity ? ` from ${min} to ${max}` : min > -Infinity ? ` of at least ${min}` : ''
  return `${name} must be ${isInteger ? 'an integer' : 'a number'}${range}, not ${JSON.stringify(value)}`
}

const isParameter = (name: string): name is ParameterName => Object.hasOwn(modelParameters, name)

/**
 * Reads the defaults in a directory; empty without the file.
 * @throws model_defaults_invalid, file_unreadable
 */
export async function readModelFile(folder: string): Promise<ModelFile> {
  const file = join(folder, defaultsFile)
  if (!existsSync(file)) return {parameters: {}}
  const data = await readToml(file).catch((error: unknown) => {
    if (!isErrorOf(error, 'config_unparsable')) throw error
    const {line, column, reason} = error.params
    throw new SvcError('model_defaults_invalid', {file, reason: `line ${line}, column ${column}: ${reason}`})
  })
  const wrong = (reason: string) => new SvcError('model_defaults_invalid', {file, reason})
  const statements = new Statements(data, wrong)
  const template = statements.text('template')
  const found: Record<string, unknown> = {
    from: statements.text('from'),
    adapter: statements.text('adapter'),
    system: statements.text('system'),
    template: template === undefined ? undefined : resolve(folder, template),
    license: statements.text('license'),
    stop: statements.texts('stop'),
    messages: statements.messages(),
    parameters: statements.parameters(),
  }
  statements.refuseOthers()
  const {adapter, from} = found
  if (adapter !== undefined && from === undefined) throw wrong('adapter requires from, the model that is adapted')
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as unknown as ModelFile
}

/** The statements of a file. Everything that is not understood is an error. */
class Statements {
  readonly #data: Readonly<Record<string, unknown>>
  readonly #wrong: (reason: string) => SvcError
  readonly #known = new Set<string>()

  constructor(data: Readonly<Record<string, unknown>>, wrong: (reason: string) => SvcError) {
    this.#data = data
    this.#wrong = wrong
  }

  text(key: string): string | undefined {
    return this.#read(key, 'a text', (value) => typeof value === 'string')
  }

  texts(key: string): string[] | undefined {
    return this.#read(key, 'a list of texts that are not empty', (value) => Array.isArray(value) && value.every(isText))
  }

  messages(): ModelDefaults['messages'] {
    return this.#read('messages', `a list of tables with role (${roles.join(', ')}) and content`, areMessages)
  }

  parameters(): ModelParameters {
    const parameters = this.#read<Record<string, unknown>>('parameters', 'a table', isObject) ?? {}
    for (const [name, value] of Object.entries(parameters)) {
      const fault = parameterFault(name, value)
      if (fault !== undefined) throw this.#wrong(`parameters: ${fault}`)
    }
    return parameters as ModelParameters
  }

  refuseOthers(): void {
    const other = Object.keys(this.#data).find((key) => !this.#known.has(key))
    if (other === undefined) return
    const suggestion = nearest(other, [...this.#known])
    throw this.#wrong(`the key ${other} is unknown${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`)
  }

  #read<T>(key: string, expected: string, isValid: (value: unknown) => boolean): T | undefined {
    this.#known.add(key)
    const value = this.#data[key]
    if (value === undefined) return undefined
    if (!isValid(value)) throw this.#wrong(`${key} must be ${expected}`)
    return value as T
  }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

type Messages = NonNullable<ModelDefaults['messages']>

export const areMessages = (value: unknown): value is Messages => Array.isArray(value) && value.every(isMessage)

const isMessage = (value: unknown): boolean => {
  if (!isObject(value) || Object.keys(value).length !== 2) return false
  const {role, content} = value as Record<string, unknown>
  return roles.some((each) => each === role) && typeof content === 'string'
}

/** The former precede the latter, parameter by parameter. */
export const mergeDefaults = (own: ModelDefaults, base: ModelDefaults): ModelDefaults => ({
  ...base,
  ...own,
  parameters: {...base.parameters, ...own.parameters},
})

const generationKeys = ['temperature', 'top_k', 'top_p', 'min_p'] as const

/**
 * The sampling parameters of a `generation_config.json`. With `do_sample: false`, transformers selects the most likely token
 * and ignores the others.
 * @param file for errors
 * @throws model_file_invalid
 */
export function generationParameters(config: Readonly<Record<string, unknown>>, file: string): ModelParameters {
  if (config.do_sample === false) return {temperature: 0}
  const found = generationKeys.flatMap((key) => (config[key] === undefined ? [] : [[key, config[key]] as const]))
  for (const [key, value] of found) {
    const reason = parameterFault(key, value)
    if (reason !== undefined) throw new SvcError('model_file_invalid', {file, reason})
  }
  return Object.fromEntries(found)
}
