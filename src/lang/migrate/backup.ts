import {randomUUID} from 'node:crypto'
import {open, readdir, rename, rm} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import type {Database} from 'better-sqlite3'
import {backupPath} from '../../store/index.js'

/** Maximum number of backups of a database. */
const mostBackups = 10

const stampPattern = /^\.backup-(\d{8}T\d{6}Z)(?:-(\d+))?$/

/**
 * Copies a database consistently while others write. The copy gets its final name when it is complete and synced to
 * disk; an incomplete copy is removed.
 * @throws errors of SQLite and the file system
 */
export async function backUp(database: Database, path: string, now: Date): Promise<string> {
  const copy = await backupPath(path, now)
  const partial = `${copy}.${randomUUID().slice(0, 8)}.partial`
  try {
    // Readable only by the owner, like the database.
    await (await open(partial, 'wx', 0o600)).close()
    await database.backup(partial)
    const file = await open(partial, 'r+')
    await file.sync()
    await file.close()
    await rename(partial, copy)
    return copy
  } catch (error) {
    await rm(partial, {force: true})
    throw error
  }
}

/** Removes the oldest backups beyond the maximum, and returns their paths. */
export async function pruneBackups(path: string): Promise<string[]> {
  const [folder, name] = [dirname(path), basename(path)]
  const found = (await readdir(folder)).flatMap((file) => {
    const [, stamp = '', count = '1'] = (file.startsWith(name) && stampPattern.exec(file.slice(name.length))) || []
    return stamp === '' ? [] : [{file, stamp, count: Number(count)}]
  })
  const newest = found.sort((a, b) => b.stamp.localeCompare(a.stamp) || b.count - a.count)
  const old = newest.slice(mostBackups).map(({file}) => join(folder, file))
  for (const file of old) await rm(file, {force: true})
  return old.reverse()
}
