import {SvcError} from '../errors/index.js'

export type Driver = typeof import('better-sqlite3')

/** The first major version of Node that better-sqlite3 13 runs on; an older one would crash in its binary. */
const oldestMajor = 22
/** better-sqlite3 12 for Node 20. A development dependency: only `npm run setup` in a clone builds it. */
const olderDriver = 'better-sqlite3-v12'

/**
 * The SQLite driver of this Node version, loaded on first use. Version 12 aborts the process on Node >= 24.19, so each
 * driver is used only where it works.
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
