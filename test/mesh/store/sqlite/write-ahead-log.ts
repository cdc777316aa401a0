import {readFileSync} from 'node:fs'

/**
 * Counts transactions in a write-ahead log: only the last frame of a transaction has a database size other than 0.
 * https://www.sqlite.org/fileformat2.html#walformat
 */
export function commitsIn(path: string): number {
  const log = readFileSync(`${path}-wal`)
  const [headerBytes, frameHeaderBytes] = [32, 24]
  const pageBytes = log.readUInt32BE(8)
  const salt = log.subarray(16, 24)
  let commits = 0
  for (let at = headerBytes; at + frameHeaderBytes + pageBytes <= log.length; at += frameHeaderBytes + pageBytes) {
    // Frames of an older log may follow the current ones.
    if (!log.subarray(at + 8, at + 16).equals(salt)) break
    if (log.readUInt32BE(at + 4) > 0) commits += 1
  }
  return commits
}
