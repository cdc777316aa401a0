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
  format?(value: T): string
}

interface Bounds {
  min?: number
  max?: number
}

const within = (value: number, {min = -Infinity, max = Infinity}: Bounds) => value >= min && value <= max

const range = ({min, max}: Bounds) => {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  if (min !== undefined) return ` of at least ${min}`
  if (max !== undefined) return ` of at most ${max}`
  return ''
}

export const text = (expected = 'text'): SettingType<string> => ({
  expected,
  parse: (value) => value,
  accept: (value) => (typeof value === 'string' ? value : undefined),
})

export const path = (): SettingType<string> => text('a path')

/** An optional `+`, then digits; an out-of-range number is refused, not clamped. */
export const integer = (bounds: Bounds = {}): SettingType<number> => ({
  expected: `a whole number${range(bounds)}`,
  parse(value) {
    const number = /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN
    return Number.isSafeInteger(number) && within(number, bounds) ? number : undefined
  },
  accept: (value) => (Number.isSafeInteger(value) && within(value as number, bounds) ? (value as number) : undefined),
})

export const number = (bounds: Bounds = {}): SettingType<number> => ({
  expected: `a number${range(bounds)}`,
  parse(value) {
    const number = value.trim() === '' ? Number.NaN : Number(value)
    return Number.isFinite(number) && within(number, bounds) ? number : undefined
  },
  accept: (value) => (Number.isFinite(value) && within(value as number, bounds) ? (value as number) : undefined),
})

/**
 * How a boolean reads its environment variable:
 * - `strict`: exactly `true` or `false`;
 * - `lenient`: `1 true yes on` and `0 false no off`, in any case;
 * - `flag`: on for `1` or `true` in any case, off for everything else.
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
    expected: 'true or false (in the environment, 1 or true to switch it on)',
    parse: (value) => /^(1|true)$/i.test(value),
  },
}

export const boolean = (words: BooleanWords): SettingType<boolean> => ({
  ...booleanWords[words],
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

/** Comma-separated in text, an array in TOML; items are trimmed, blanks and duplicates dropped. */
export const list = (): SettingType<readonly string[]> => {
  const clean = (items: readonly string[]) => [...new Set(items.map((item) => item.trim()).filter(Boolean))]
  return {
    expected: 'a list of words',
    parse: (value) => clean(value.split(',')),
    accept: (value) =>
      Array.isArray(value) && value.every((item) => typeof item === 'string') ? clean(value) : undefined,
    format: (items) => items.join(','),
  }
}

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
