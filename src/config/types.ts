import {isTextArray} from './toml.js'

/**
 * The types a setting can have. A type reads text (an environment variable, a flag) and TOML values into the same
 * value; what it cannot read is `undefined`, and `expected` says what it takes.
 */
export interface SettingType<T> {
  /** Ends the sentence "takes …". */
  readonly expected: string
  parse(text: string): T | undefined
  accept(value: unknown): T | undefined
  /** The words a shell can complete. */
  readonly options?: readonly string[]
  /** A flag of this type takes no value: `--x` is true and `--no-x` is false. */
  readonly switch?: true
  format?(value: T): string
  /** For a flag, where a value out of range is a mistake of somebody who can mend it: refuses what this type clamps. */
  readonly exact?: SettingType<T>
  /** The words of a text that is read otherwise, but without them: each is worth a warning. */
  skips?(text: string): readonly string[]
  /** What every value of a table of this type is, so that an error can name the one at fault. */
  readonly entries?: SettingType<unknown>
}

interface Bounds {
  min?: number
  max?: number
  /** A bound that is itself out of range. */
  above?: number
  /** A value outside counts as the nearer bound, where it would be refused otherwise. */
  clamp?: true
}

const exactly = (type: (bounds: Bounds) => SettingType<number>, {clamp, ...bounds}: Bounds) =>
  clamp ? {exact: type(bounds)} : {}

/** The value itself, or the nearer bound where the bounds clamp; undefined is refused. */
const bounded = (value: number, {min = -Infinity, max = Infinity, above = -Infinity, clamp}: Bounds) => {
  if (value <= above) return undefined
  const nearest = Math.min(Math.max(value, min), max)
  return clamp || nearest === value ? nearest : undefined
}

const range = ({min, max, above, clamp}: Bounds) => {
  if (above !== undefined) return ` above ${above}`
  if (min === undefined && max === undefined) return ''
  if (min !== undefined && max !== undefined) return clamp ? ` (clamped to ${min} to ${max})` : ` from ${min} to ${max}`
  const side = min === undefined ? `at most ${max}` : `at least ${min}`
  return clamp ? ` (clamped to ${side})` : ` of ${side}`
}

export const text = (expected = 'text'): SettingType<string> => ({
  expected,
  parse: (value) => value,
  accept: (value) => (typeof value === 'string' ? value : undefined),
})

export const path = (): SettingType<string> => text('a path')

/**
 * An optional sign, then digits. An out-of-range number is refused unless the bounds clamp; then only a negative one is,
 * since it is a mistake and no small number.
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

/** The longest wait of a Node timer, in milliseconds, about 24 days: a longer one would end at once. */
const longestWaitMs = 2 ** 31 - 1

/** A time in milliseconds that a timer can wait for. */
export const milliseconds = (min = 0): SettingType<number> => integer({min, max: longestWaitMs})

/** A time in seconds that a timer can wait for. */
export const seconds = (min = 0): SettingType<number> => integer({min, max: Math.floor(longestWaitMs / 1000)})

/** A number whose 0 switches something off, so that no bound applies to it; a negative one is a mistake. */
export const zeroOr = (type: SettingType<number>): SettingType<number> => ({
  ...(type.exact && {exact: zeroOr(type.exact)}),
  expected: `0, or ${type.expected}`,
  parse: (value) => (/^\+?0+(\.0*)?$/.test(value) ? 0 : Number(value) < 0 ? undefined : type.parse(value)),
  accept: (value) => (value === 0 ? 0 : Number(value) < 0 ? undefined : type.accept(value)),
})

/**
 * How a boolean reads its environment variable:
 * - `strict`: exactly `true` or `false`;
 * - `lenient`: `1 true yes on` and `0 false no off`, in any case;
 * - `flag`: on for `1` or `true`, off for `0 false no off`, in any case.
 */
export type BooleanWords = 'strict' | 'lenient' | 'flag'

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
}

export const boolean = (words: BooleanWords): SettingType<boolean> => ({
  ...booleanWords[words],
  switch: true,
  accept: (value) => (typeof value === 'boolean' ? value : undefined),
})

/** One of a few words, in any case. */
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
 * One of a few words, in any case, each with other spellings that text may use: `{cpu: ['0'], cuda: ['1', 'true']}`.
 * In TOML `1`, `0`, `true` and `false` may also be the value itself.
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

/** Comma-separated in text, an array in TOML; items are trimmed, blanks and duplicates dropped. */
export const list = (): SettingType<readonly string[]> => ({
  expected: 'a list of words',
  parse: (value) => unique(value.split(',')),
  accept: (value) => (isTextArray(value) ? unique(value) : undefined),
  format: (items) => items.join(','),
})

/**
 * Some of a few words, in any case: comma-separated in text, where a word that is none of them is skipped, an array in
 * TOML, where it is refused.
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

/** Separated by commas, semicolons or line ends in text, an array in TOML; otherwise as `list`. */
export const phrases = (): SettingType<readonly string[]> => ({
  expected: 'a list of phrases',
  parse: (value) => unique(value.split(/[,;\r\n]/)),
  accept: (value) => (isTextArray(value) ? unique(value) : undefined),
  format: (items) => items.join(';'),
})

/**
 * Ids of tokens: in text, separated by commas, semicolons or blanks, and whatever is no number is skipped; in TOML an
 * array of whole numbers.
 */
export const tokenIds = (): SettingType<readonly number[]> => ({
  expected: 'a list of token ids',
  parse: (value) => [
    ...new Set(value.split(/[,;\s]+/).flatMap((item) => (/^\d{1,9}$/.test(item) ? [Number(item)] : []))),
  ],
  accept: (value) =>
    Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0)
      ? [...new Set(value as number[])]
      : undefined,
  format: (ids) => ids.join(','),
})

/**
 * An HTTP base address: the scheme may be left out, a bind-all host becomes loopback, and a trailing `/`, `/v1` or
 * `/api` is dropped.
 */
export const baseUrl = (): SettingType<string> => {
  const normalise = (value: string) => {
    const candidate = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`
    if (!URL.canParse(candidate)) return undefined
    const url = new URL(candidate)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
    // A password in an address would be shown wherever the address is.
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
