import {Failure} from './failure.js'

/** Maximum length of a string or list. */
export const maxLength = 16 << 20

/** @throws Failure STEP_LIMIT */
export function sized<T extends {length: number}>(value: T): T {
  if (value.length > maxLength) throw new Failure('STEP_LIMIT', 'a string or list is too long')
  return value
}
