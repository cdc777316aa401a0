import {isLoopback} from './loopback.js'

/** Shortest token that is not guessed, characters. */
export const minTokenLength = 16

interface Exposure {
  host: string
  allowRemote: boolean
  token: string | undefined
  /** Where the token is set. */
  variable: string
}

/** What a server lacks to listen where other machines can reach it; nothing on loopback. */
export function missingForRemote({host, allowRemote, token = '', variable}: Exposure): string[] {
  if (isLoopback(host)) return []
  return [
    ...(allowRemote ? [] : ['--allow-remote']),
    ...(token.length >= minTokenLength ? [] : [`a token of ${minTokenLength} characters or more in ${variable}`]),
  ]
}
