import type {OrchTaskV1} from '../contracts/index.js'
import {nearest, SvcError} from '../errors/index.js'

type Requested = Pick<NonNullable<OrchTaskV1['exec']>, 'secrets'>

/** Refuses secrets that the workspace does not list. @throws exec_secret_unlisted */
export function requireListedSecrets({secrets = []}: Requested, listed: readonly string[]): void {
  for (const name of secrets)
    if (!listed.includes(name))
      throw new SvcError('exec_secret_unlisted', {name, suggestion: nearest(name, [...listed])})
}

/**
 * The values of the secrets of a command, by name.
 * @throws exec_secret_missing
 */
export function secretValues(
  {secrets = []}: Requested,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const missing = secrets.filter((name) => !env[name])
  if (missing.length > 0) throw new SvcError('exec_secret_missing', {names: missing})
  return Object.fromEntries(secrets.map((name) => [name, env[name] ?? '']))
}
