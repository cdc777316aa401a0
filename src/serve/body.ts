import {counted, SvcError} from '../errors/index.js'

/** Maximum number of messages of a conversation. */
export const maxMessages = 4096

/** Bounds of lists of stop strings: their number, and the characters of each. */
export const stopBounds = {max: 64, maxLength: 1000}

/** Maximum depth of JSON values that chat templates read, and of JSON Schemas. */
const maxDepth = 32
const maxSchemaDepth = 256

export interface Bounds {
  min?: number
  max?: number
}

/** The fields of requests of a route. Objects in a request are checked against them. */
export interface DeclaredFields {
  /** @throws for a field whose value requests something that the server lacks */
  check(fields: Fields): void
  /** Whether a field is declared, or is in an object whose fields are not. */
  isListed(param: string): boolean
}

/**
 * Reads the fields of a JSON object in a request. An absent or null field is undefined. A field of the wrong type or out
 * of bounds is rejected with `bad_request` and a message that names the field.
 */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #path: string
  readonly #label: (name: string) => string
  readonly #declared: DeclaredFields | undefined

  /**
   * @param path prefix of a field name in the `param` of an error: `options.`, `messages[0].`
   * @param label name of a field in messages; default: its path
   * @throws what the check of the declared fields throws
   */
  constructor(values: object, path = '', label = (name: string) => path + name, declared?: DeclaredFields) {
    this.#values = values as Record<string, unknown>
    this.#path = path
    this.#label = label
    this.#declared = declared
    declared?.check(this)
  }

  /** @throws body_missing if there is none; bad_request if it is not an object; what the check throws */
  static ofBody(body: unknown, declared?: DeclaredFields): Fields {
    if (body === undefined) throw new SvcError('body_missing', {})
    if (!isJsonObject(body)) throw new SvcError('bad_request', {reason: 'the request body must be a JSON object'})
    return new Fields(body, '', undefined, declared)
  }

  /** The same fields with another value of one. */
  with(name: string, value: unknown): Fields {
    return new Fields({...this.#values, [name]: value}, this.#path, this.#label)
  }

  get names(): string[] {
    return Object.keys(this.#values)
  }

  /** Paths of fields that are not declared. */
  get unknown(): string[] {
    return this.names.map((name) => this.param(name)).filter((param) => this.#declared?.isListed(param) === false)
  }

  /** The `param` of errors about a field. */
  param(name: string): string {
    return this.#path + name
  }

  /** An error about a field: "temperature must …". */
  wrong(name: string, must: string): SvcError {
    return new SvcError('bad_request', {reason: `${this.#label(name)} must ${must}`, param: this.param(name)})
  }

  get(name: string): unknown {
    if (this.#declared?.isListed(this.param(name)) === false)
      throw new Error(`The table of request fields lacks ${this.param(name)}.`)
    return this.#values[name] ?? undefined
  }

  /** The complete object. @throws bad_request if it is nested too deep to be copied and rendered */
  json(): Readonly<Record<string, unknown>> {
    if (isDeeper(this.#values, maxDepth))
      throw new SvcError('bad_request', {
        reason: `${this.#path.slice(0, -1)} must be nested at most ${maxDepth} deep`,
        param: this.#path.slice(0, -1),
      })
    return this.#values
  }

  /** A JSON Schema; `undefined` if the field is absent. @throws bad_request if it is nested too deep to be copied */
  schema(name: string): unknown {
    const value = this.#typed(name, 'object (a JSON Schema)', (each) => isJsonObject(each) || typeof each === 'boolean')
    if (isDeeper(value, maxSchemaDepth)) throw this.wrong(name, `be nested at most ${maxSchemaDepth} deep`)
    return value
  }

  string(name: string): string | undefined {
    return this.#typed(name, 'string', isString)
  }

  boolean(name: string): boolean | undefined {
    return this.#typed(name, 'boolean', (value) => typeof value === 'boolean')
  }

  number(name: string, bounds: Bounds = {}): number | undefined {
    return this.#within(name, this.#typed(name, 'number', isFiniteNumber), bounds)
  }

  /** An integer of any size: a 64-bit seed that lost precision in JSON is still a valid seed. */
  integer(name: string, bounds: Bounds = {}): number | undefined {
    return this.#within(name, this.#typed(name, 'integer', isInteger), bounds)
  }

  integers(name: string, bounds: Bounds = {}): readonly number[] | undefined {
    const values = this.#typed(name, 'list of integers', (value) => isList(value) && value.every(isInteger))
    for (const value of (values ?? []) as number[]) this.#within(name, value, bounds)
    return values as readonly number[] | undefined
  }

  /** A list of strings; a single string counts as a list of one. */
  texts(
    name: string,
    {maxLength = Infinity, ...count}: Bounds & {maxLength?: number} = {},
  ): readonly string[] | undefined {
    const one = this.get(name)
    if (isString(one)) return this.#short(name, [one], maxLength)
    const all = this.#typed(name, 'string or list of strings', (value) => isList(value) && value.every(isString))
    return all && this.#short(name, this.#counted(name, all as readonly string[], count), maxLength)
  }

  object(name: string, label?: (name: string) => string): Fields | undefined {
    const value = this.#typed(name, 'object', isJsonObject)
    return value && new Fields(value, `${this.param(name)}.`, label, this.#declared)
  }

  objects(name: string, count: Bounds = {}): readonly Fields[] | undefined {
    const items = this.#typed(name, 'list of objects', isList)
    return (
      items &&
      this.#counted(name, items, count).map((item, i) => {
        if (!isJsonObject(item)) throw this.wrong(`${name}[${i}]`, 'be of type object')
        return new Fields(item, `${this.param(name)}[${i}].`, undefined, this.#declared)
      })
    )
  }

  #typed<T>(name: string, type: string, is: (value: unknown) => value is T): T | undefined
  #typed(name: string, type: string, is: (value: unknown) => boolean): unknown
  #typed(name: string, type: string, is: (value: unknown) => boolean): unknown {
    const value = this.get(name)
    if (value !== undefined && !is(value)) throw this.wrong(name, `be of type ${type}`)
    return value
  }

  #within<T extends number | undefined>(name: string, value: T, {min = -Infinity, max = Infinity}: Bounds): T {
    if (value === undefined || (value >= min && value <= max)) return value
    if (max === Infinity) throw this.wrong(name, `be at least ${min}`)
    if (min === -Infinity) throw this.wrong(name, `be at most ${max}`)
    throw this.wrong(name, `be between ${min} and ${max}`)
  }

  #counted<T>(name: string, items: readonly T[], {min = 0, max = Infinity}: Bounds): readonly T[] {
    if (items.length < min) throw this.wrong(name, `have at least ${counted(min, 'item')}`)
    if (items.length > max) throw this.wrong(name, `have at most ${counted(max, 'item')}`)
    return items
  }

  #short(name: string, texts: readonly string[], maxLength: number): readonly string[] {
    if (texts.some((text) => text.length > maxLength))
      throw this.wrong(name, `have at most ${maxLength} characters each`)
    return texts
  }
}

const isString = (value: unknown): value is string => typeof value === 'string'
const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value)
const isInteger = (value: unknown): value is number => Number.isInteger(value)
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
export const isJsonObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isDeeper = (value: unknown, depth: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth === 0 || Object.values(value).some((entry) => isDeeper(entry, depth - 1)))

/** Drops undefined entries, so that an optional property is absent instead of undefined. */
export const definedEntries = <T extends object>(entries: T) =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>
  }
