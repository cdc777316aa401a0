type Config = Readonly<Record<string, unknown>>

/** Keys of a configuration that may be present although nothing reads them. */
export interface NeutralKeys {
  /** Keys that do not affect the result, whatever their values are. */
  inert: ReadonlySet<string>
  /** Tests for the values with which a key does not affect the result, such as those of a feature that is off. */
  neutral: Readonly<Record<string, (value: unknown) => boolean>>
}

/** Beginnings of keys in which libraries and training programs keep notes of their own. */
const notes = /^(?:_|unsloth_)/

/**
 * The first key of a configuration that might affect the result; undefined if there is none. Keys that are absent, null,
 * false or empty do not.
 * @param isHandled whether a key is read, or is to be ignored
 */
export function unsupportedKey(
  config: Config,
  {inert, neutral}: NeutralKeys,
  isHandled: (key: string) => boolean,
): string | undefined {
  const isNeutral = (key: string, value: unknown) => Object.hasOwn(neutral, key) && neutral[key]?.(value) === true
  const found = Object.entries(config).find(
    ([key, value]) => !(isOff(value) || inert.has(key) || notes.test(key) || isHandled(key) || isNeutral(key, value)),
  )
  return found?.[0]
}

/** A value that is one of these. */
export const oneOf =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value)

/** Absent, false, or an empty list or object. */
export const isOff = (value: unknown): boolean => isAbsent(value) || isEmpty(value)

export const isAbsent = (value: unknown): value is null | undefined | false =>
  value === null || value === undefined || value === false

export const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0
