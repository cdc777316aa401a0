import {isLoopback} from './loopback.js'

/** Minimum length of a token, characters. */
export const minTokenLength = 16

interface Exposure {
  host: string
  allowRemote: boolean
  token: string | undefined
  /** Environment variable of the token. */
  variable: string
}

/** Returns the missing requirements for listening on a non-loopback address. */
export function missingForRemote({host, allowRemote, token = '', variable}: Exposure): string[] {
  if (isLoopback(host)) return []
  return [
    ...(allowRemote ? [] : ['--allow-remote']),
    ...(token.length >= minTokenLength ? [] : [`a token of at least ${minTokenLength} characters in ${variable}`]),
  ]
}
