import {resolve} from 'node:path'
import {Flags} from '@oclif/core'
import {meshServerSettings} from '../config/index.js'
import {SvcError} from '../errors/index.js'
import type {MeshPlace} from '../mesh/index.js'
import {settingFlags} from './setting-flags.js'

/** `--db` and `--store` */
export const meshStoreFlags = {
  ...settingFlags(meshServerSettings, 'dbPath'),
  store: Flags.string({
    description: 'PostgreSQL URL without a password, used instead of a file. (env: SVC_MESH_STORE_URL)',
    helpValue: 'URL',
    exclusive: ['db'],
  }),
}

const hasPassword = (url: string): boolean => /^\w+:\/\/[^/@]*:[^/@]*@|[?&]password=/.test(url)

/**
 * Place of the store of a control plane, from the flags or the settings.
 * @throws store_url_invalid, store_password_exposed
 */
export async function meshPlace(
  {dbPath, storeUrl}: {dbPath?: string | undefined; storeUrl?: string | undefined},
  flags: object,
): Promise<MeshPlace> {
  const {db, store} = flags as {db?: string; store?: string}
  const url = store ?? storeUrl
  if (db === undefined && url !== undefined) {
    if (store !== undefined && hasPassword(store)) throw new SvcError('store_password_exposed', {})
    if (!/^postgres(ql)?:\/\//.test(url))
      throw new SvcError('store_url_invalid', {reason: 'its scheme is not postgres'})
    return {url}
  }
  const {userFile} = await import('../mesh/index.js')
  return {path: dbPath === undefined ? userFile(process.env, 'mesh', 'mesh.db') : resolve(dbPath)}
}
