import {resolve} from 'node:path'
import {isTextArray} from './toml.js'

/**
 * Type of a setting. It converts text (an environment variable or a flag) and TOML values to the same value, and
 * returns undefined for invalid input.
 */
export interface SettingType<T> {
  /** Description of the accepted values; completes the sentence "must be …". */
  readonly expected: string
  parse(text: string): T | undefined
  accept(value: unknown): T | undefined
  /** Values that a shell can complete. */
  readonly options?: readonly string[]
  /** A flag of this type has no value: `--x` is true and `--no-x` is false. */
  readonly switch?: true
  format?(value: T): string
  /** Variant for flags: it rejects values that this type clamps, since the user can correct them at once. */
  readonly exact?: SettingType<T>
  /** Words of a text that `parse` ignores; the caller warns about each. */
  skips?(text: string): readonly string[]
  /** The value with its relative path, which starts at this folder, as an absolute path. */
  anchor?(value: T, folder: string): T
  /** Type of the values of a table, so that an error can name the invalid value. */
  readonly entries?: SettingType<unknown>
}

interface Bounds {
  min?: number
  max?: number
  /** Exclusive lower bound. */
  above?: number
  /** Replaces a value out of range with the nearer bound instead of rejecting it. */
  clamp?: true
}

const exactly = (type: (bounds: Bounds) => SettingType<number>, {clamp, ...bounds}: Bounds) =>
  clamp ? {exact: type(bounds)} : {}

/** The value, the nearer bound if the bounds clamp, or undefined if the value is rejected. */
const bounded = (value: number, {min = -Infinity, max = Infinity, above = -Infinity, clamp}: Bounds) => {
  if (value <= above) return undefined
  const nearest = Math.min(Math.max(value, min), max)
  return clamp || nearest === value ? nearest : undefined
}

const range = ({min, max, above, clamp}: Bounds) => {
  if (above !== undefined) return ` above ${above}`
  if (min === undefined && max === undefined) return ''
  if (min !== undefined && max !== undefined) return clamp ? ` (clamped to ${min}-${max})` : ` from ${min} to ${max}`
  if (min === undefined) return clamp ? ` (maximum ${max}; larger values are lowered)` : ` of at most ${max}`
  return clamp ? ` (minimum ${min}; smaller values are raised)` : ` of at least ${min}`
}

export const text = (expected = 'text'): SettingType<string> => ({
  expected,
  parse: (value) => value,
  accept: (value) => (typeof value === 'string' ? value : undefined),
})

export const path = (): SettingType<string> => ({...text('a path'), anchor: (value, folder) => resolve(folder, value)})

/** A text that starts with `./` or `../` is a path: `models/mine` may be an id. */
export const modelName = (): SettingType<string> => ({
  ...text('a model id or a path'),
  anchor: (value, folder) => (/^\.\.?[\\/]/.test(value) ? resolve(folder, value) : value),
})

/**
 * An optional sign, then digits. A number out of range is rejected unless the bounds clamp. A negative number is always
 * rejected if the bounds clamp, since it is more likely a mistake than a small number.
 */
export const integer = (bounds: Bounds = {}): SettingType<number> => {
  const read = (value: number) =>
    Number.isSafeInteger(value) && !(bounds.clamp && value < 0) ? bounded(value, bounds) : undefined
  return {
    ...exactly(integer, bounds),
    expected: `a whole number${range(bounds)}`,
    parse: (value) => (/^[+-]?\d+$/.test(value) ? read(Number(value)) : undefined),
    accept: (value) => (typeof value === 'number' ? read(value) : undefined),
  }
}

export const number = (bounds: Bounds = {}): SettingType<number> => {
  const read = (value: number) => (Number.isFinite(value) ? bounded(value, bounds) : undefined)
  return {
    ...exactly(number, bounds),
    expected: `a number${range(bounds)}`,
    parse: (value) => (value.trim() === '' ? undefined : read(Number(value))),
    accept: (value) => (typeof value === 'number' ? read(value) : undefined),
  }
}

/** Longest delay of a Node.js timer, in milliseconds, about 24 days: a longer delay would fire immediately. */
const maxWaitMs = 2 ** 31 - 1

/** A delay in milliseconds that a timer supports. */
export const milliseconds = (min = 0): SettingType<number> => integer({min, max: maxWaitMs})

/** A delay in seconds that a timer supports. */
export const seconds = (min = 0): SettingType<number> => integer({min, max: Math.floor(maxWaitMs / 1000)})

/** A number for which 0 turns something off and is exempt from the bounds. Negative numbers are rejected. */
export const zeroOr = (type: SettingType<number>): SettingType<number> => ({
  ...(type.exact && {exact: zeroOr(type.exact)}),
  expected: `0, or ${type.expected}`,
  parse: (value) => (/^\+?0+(\.0*)?$/.test(value) ? 0 : Number(value) < 0 ? undefined : type.parse(value)),
  accept: (value) => (value === 0 ? 0 : Number(value) < 0 ? undefined : type.accept(value)),
})

/** A value of the first type, or else of the second one. */
export const either = <A, B>(first: SettingType<A>, second: SettingType<B>): SettingType<A | B> => ({
  expected: `${first.expected}, or ${second.expected}`,
  parse: (value) => first.parse(value) ?? second.parse(value),
  accept: (value) => first.accept(value) ?? second.accept(value),
})

/**
 * Spellings of a boolean in text, such as an environment variable:
 * - `strict`: exactly `true` or `false`;
 * - `lenient`: `1 true yes on` and `0 false no off`, case-insensitive;
 * - `flag`: on for `1` or `true`, off for `0 false no off`, case-insensitive;
 * - `opt-in`: on for `1` or `true`, case-insensitive, off for every other text.
 */
export type BooleanWords = 'strict' | 'lenient' | 'flag' | 'opt-in'

const booleanWords: Record<BooleanWords, {expected: string; parse(value: string): boolean | undefined}> = {
  strict: {
    expected: 'true or false',
    parse: (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
  },
  lenient: {
    expected: 'true or false (also 1, 0, yes, no, on, off)',
    parse(value) {
      if (/^(1|true|yes|on)$/i.test(value)) return true
      return /^(0|false|no|off)$/i.test(value) ? false : undefined
    },
  },
  flag: {
    expected: 'true or false (also 1, 0, no, off)',
    parse(value) {
      if (/^(1|true)$/i.test(value)) return true
      return /^(0|false|no|off)$/i.test(value) ? false : undefined
    },
  },
  'opt-in': {
    expected: 'true or 1 to enable, any other value to disable',
    parse: (value) => /^(1|true)$/i.test(value),
  },
}

export const boolean = (words: BooleanWords): SettingType<boolean> => ({
  ...booleanWords[words],
  switch: true,
  accept: (value) => (typeof value === 'boolean' ? value : undefined),
})

/** One of a few words, case-insensitive. */
export const choice = <const T extends string>(...options: T[]): SettingType<T> => {
  const match = (value: string) => options.find((option) => option === value.toLowerCase())
  return {
    expected: `one of ${options.join(', ')}`,
    options,
    parse: match,
    accept: (value) => (typeof value === 'string' ? match(value) : undefined),
  }
}

/**
 * `project` or `canonical`, case-insensitive, or the path of a file. A path contains a separator, so that a misspelt word
 * does not create a file of that name.
 */
export const storeLocation = (): SettingType<string> => {
  const words = choice('project', 'canonical')
  const match = (value: string) => words.parse(value) ?? (/[/\\]/.test(value) ? value : undefined)
  return {
    expected: 'project, canonical, or a path that contains a slash',
    parse: match,
    accept: (value) => (typeof value === 'string' ? match(value) : undefined),
  }
}

/**
 * One of a few words, case-insensitive, each with aliases: `{cpu: ['0'], cuda: ['1', 'true']}`.
 * In TOML, the aliases `1`, `0`, `true` and `false` may also be a number or boolean.
 */
export const aliasedChoice = <const T extends string>(spellings: Record<T, readonly string[]>): SettingType<T> => {
  const words = Object.keys(spellings) as T[]
  const match = (value: string) => {
    const lower = value.toLowerCase()
    return words.find((word) => word === lower || spellings[word].includes(lower))
  }
  return {
    expected: `one of ${words.map((word) => `${word}${also(spellings[word])}`).join(', ')}`,
    options: words,
    parse: match,
    accept: (value) => (['string', 'number', 'boolean'].includes(typeof value) ? match(String(value)) : undefined),
  }
}

const also = (spellings: readonly string[]) => (spellings.length === 0 ? '' : ` (also ${spellings.join(', ')})`)

const unique = (items: readonly string[]) => [...new Set(items.map((item) => item.trim()).filter(Boolean))]

/** Name or number of a user of the system. */
export const userName = (): SettingType<string> => {
  const accept = (value: unknown) => (typeof value === 'string' && /^[\w.][\w.-]*\$?$/.test(value) ? value : undefined)
  return {expected: 'the name of a user of this system', parse: accept, accept}
}

/** Comma-separated in text, an array in TOML. Items are trimmed; empty items and duplicates are dropped. */
export const list = (): SettingType<readonly string[]> => ({
  expected: 'a list of words',
  parse: (value) => unique(value.split(',')),
  accept: (value) => (isTextArray(value) ? unique(value) : undefined),
  format: (items) => items.join(','),
})

/** A list of directories, in which `pulled` stands for the downloaded models. */
export const modelFolders = (): SettingType<readonly string[]> => ({
  ...list(),
  expected: 'a list of directories, or pulled',
  anchor: (items, folder) => items.map((item) => (item === 'pulled' ? item : resolve(folder, item))),
})

/** `*`, `null`, or an origin without a path, in which `*` stands for any characters. */
const originForm = /^(\*|null|[a-z][a-z\d+.-]*:\/\/[^/\s]+)$/

/** A list of patterns of origins of web pages; they are in lower case, as browsers send origins. */
export const originPatterns = (): SettingType<readonly string[]> => {
  const items = list()
  const checked = (found: readonly string[] | undefined) => {
    const patterns = found?.map((item) => item.toLowerCase())
    return patterns?.every((item) => originForm.test(item)) ? patterns : undefined
  }
  return {
    ...items,
    expected: 'a list of origins without a path, such as https://*.example.org or chrome-extension://*',
    parse: (value) => checked(items.parse(value)),
    accept: (value) => checked(items.accept(value)),
  }
}

/**
 * A subset of a few words, case-insensitive. Text is comma-separated, and unknown words are skipped. TOML is an array,
 * and unknown words are rejected.
 */
export const choices = <const T extends string>(...options: T[]): SettingType<readonly T[]> => {
  const one = choice(...options)
  const words = (value: string) => unique(value.split(','))
  const known = (items: readonly string[]) => [...new Set(items.flatMap((item) => one.parse(item) ?? []))]
  return {
    expected: `a list of ${options.join(', ')}`,
    parse: (value) => known(words(value)),
    accept: (value) =>
      isTextArray(value) && unique(value).every((item) => one.parse(item) !== undefined)
        ? known(unique(value))
        : undefined,
    format: (items) => items.join(','),
    skips: (value) => words(value).filter((item) => one.parse(item) === undefined),
  }
}

/** Like `list`, but commas, semicolons and line breaks separate the items of a text. */
export const phrases = (): SettingType<readonly string[]> => ({
  expected: 'a list of phrases',
  parse: (value) => unique(value.split(/[,;\r\n]/)),
  accept: (value) => (isTextArray(value) ? unique(value) : undefined),
  format: (items) => items.join(';'),
})

/**
 * Token ids. Text is separated by commas, semicolons or white space, and items that are not numbers are skipped; in a flag
 * they are errors. TOML is an array of whole numbers.
 */
export const tokenIds = ({min = 0} = {}): SettingType<readonly number[]> => {
  const isId = (item: unknown) => Number.isSafeInteger(item) && (item as number) >= min
  const type: SettingType<readonly number[]> = {
    expected: 'a list of token ids',
    parse: (value) => [
      ...new Set(
        words(value)
          .filter((item) => /^-?\d{1,9}$/.test(item))
          .map(Number)
          .filter(isId),
      ),
    ],
    accept: (value) => (Array.isArray(value) && value.every(isId) ? [...new Set(value as number[])] : undefined),
    format: (ids) => ids.join(','),
  }
  const words = (value: string) => value.split(/[,;\s]+/).filter((item) => item !== '')
  const isWhole = (value: string) => words(value).every((item) => type.parse(item)?.length === 1)
  return {...type, exact: {...type, parse: (value) => (isWhole(value) ? type.parse(value) : undefined)}}
}

/**
 * An HTTP base URL. The scheme defaults to http, a wildcard host such as 0.0.0.0 becomes loopback, and a trailing `/`,
 * `/v1` or `/api` is removed.
 */
export const baseUrl = (): SettingType<string> => {
  const normalise = (value: string) => {
    const candidate = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`
    if (!URL.canParse(candidate)) return undefined
    const url = new URL(candidate)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
    // A password in a URL would be printed with the URL.
    if (url.username !== '' || url.password !== '') return undefined
    if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
    if (url.hostname === '[::]') url.hostname = '[::1]'
    url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/(v1|api)$/, '')
    url.search = ''
    url.hash = ''
    return url.toString().replace(/\/$/, '')
  }
  return {
    expected: 'an http or https address without a user or password',
    parse: normalise,
    accept: (value) => (typeof value === 'string' ? normalise(value) : undefined),
  }
}
