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

/** True if every user of another machine could use a server. @param isProtected it needs a secret, or may do without */
export const isExposed = (host: string, isProtected: boolean): boolean => !isProtected && !isLoopback(host)

/** Why an address cannot be listened on, without the address: `permission denied (EACCES)`. */
export function listenFailure({message}: Error): string {
  const [, code, reason] = /^listen (\w+): (.+) \S+$/.exec(message) ?? []
  return code === undefined ? message : `${reason} (${code})`
}

/** Returns the missing requirements for listening on a non-loopback address. */
export function missingForRemote({host, allowRemote, token = '', variable}: Exposure): string[] {
  if (isLoopback(host)) return []
  return [
    ...(allowRemote ? [] : ['--allow-remote']),
    ...(token.length >= minTokenLength ? [] : [`a token of at least ${minTokenLength} characters in ${variable}`]),
  ]
}
