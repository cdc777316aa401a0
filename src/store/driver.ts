import {SvcError} from '../errors/index.js'

export type Driver = typeof import('better-sqlite3')

/** Minimum Node.js major version of better-sqlite3 13, which crashes on older ones. */
const oldestMajor = 22
/** better-sqlite3 12 for Node.js 20. A development dependency, built only by `npm run setup` in a clone. */
const olderDriver = 'better-sqlite3-v12'

/**
 * Loads the SQLite driver for this Node.js version. Version 12 aborts the process on Node.js 24.19 and later, so two
 * versions are needed.
 * @throws store_engine_missing, store_node_unsupported
 */
export async function loadDriver(): Promise<Driver> {
  const isOld = Number.parseInt(process.versions.node, 10) < oldestMajor
  try {
    const {default: driver} = isOld ? await import(olderDriver) : await import('better-sqlite3')
    return driver as Driver
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException
    if (isOld && code === 'ERR_MODULE_NOT_FOUND')
      throw new SvcError('store_node_unsupported', {version: process.versions.node, oldestMajor}, {cause: error})
    throw new SvcError('store_engine_missing', {reason: message.split('\n')[0] ?? ''}, {cause: error})
  }
}
