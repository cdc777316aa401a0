import {meshSecretSettings, meshSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import type {MeshSecrets} from '../control-plane/auth/credentials.js'

/** Reads the secrets of a control plane from the environment and the env files. It never needs the secrets of tasks. */
export function readMeshSecrets(sources: SettingSources): MeshSecrets {
  const {token} = resolveSettings(meshSettings, sources).values
  const {bootstrapExpiresUnixMs, secretboxKey: _, ...secrets} = resolveSettings(meshSecretSettings, sources).values
  return {token, ...secrets, bootstrapExpiresUnixMs: bootstrapExpiresUnixMs ?? endOfUnreadable(sources)}
}

export const meshSecretTexts = (sources: SettingSources): string[] =>
  [
    ...resolveSettings(meshSettings, sources).settings,
    ...resolveSettings(meshSecretSettings, sources).settings,
  ].flatMap(({setting, value}) => (setting.secret && typeof value === 'string' ? [value] : []))

/** An unparsable expiry counts as past: a typing error must not make the token valid for ever. */
function endOfUnreadable({env, envFile}: SettingSources): number | undefined {
  const isSet = (meshSecretSettings.rows.bootstrapExpiresUnixMs.env ?? []).some(
    (variable) => env[variable]?.trim() || envFile?.values[variable],
  )
  return isSet ? 0 : undefined
}
