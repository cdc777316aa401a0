import {meshSecretSettings, meshSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import type {MeshSecrets} from '../control-plane/auth/credentials.js'

/** The secrets of the mesh, from the environment and the files of variables. */
export function readMeshSecrets(sources: SettingSources): MeshSecrets {
  const {token} = resolveSettings(meshSettings, sources).values
  const {bootstrapExpiresUnixMs, ...secrets} = resolveSettings(meshSecretSettings, sources).values
  return {token, ...secrets, bootstrapExpiresUnixMs: bootstrapExpiresUnixMs ?? endOfUnreadable(sources)}
}

/** The texts among them that must never be printed. */
export const meshSecretTexts = (sources: SettingSources): string[] =>
  [
    ...resolveSettings(meshSettings, sources).settings,
    ...resolveSettings(meshSecretSettings, sources).settings,
  ].flatMap(({setting, value}) => (setting.secret && typeof value === 'string' ? [value] : []))

/** A time that cannot be read is one that has passed: a mistake must not make the token last for ever. */
function endOfUnreadable({env, envFile}: SettingSources): number | undefined {
  const isGiven = (meshSecretSettings.rows.bootstrapExpiresUnixMs.env ?? []).some(
    (variable) => env[variable]?.trim() || envFile?.values[variable],
  )
  return isGiven ? 0 : undefined
}
