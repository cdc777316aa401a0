import {existsSync, readdirSync, readlinkSync} from 'node:fs'

/** What this process has open: paths, and `socket:[7]` for a socket. Empty on systems without `/proc`. */
export function openPaths(): string[] {
  const folder = '/proc/self/fd'
  return existsSync(folder) ? readdirSync(folder).map((file) => targetOf(`${folder}/${file}`)) : []
}

/** Target of a link; empty if it is gone, like that of the folder that was just read. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return ''
  }
}
