import {SvcError} from '../errors/index.js'

/**
 * Splits the value of a flag such as `NAME=DIR` at the first `=`.
 * @param form shown by the error; a directory must not be empty
 * @throws flag_value
 */
export function nameAndValue(
  flag: string,
  text: string,
  form: 'NAME=VALUE' | 'KEY=VALUE' | 'NAME=DIR',
): [name: string, value: string] {
  const at = text.indexOf('=')
  const isEmpty = at === text.length - 1
  if (at < 1 || (isEmpty && form === 'NAME=DIR')) throw new SvcError('flag_value', {flag, value: text, expected: form})
  return [text.slice(0, at), text.slice(at + 1)]
}
