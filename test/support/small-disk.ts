import {rmSync} from 'node:fs'
import {join} from 'node:path'
import {execaSync} from 'execa'
import {temporaryFolder} from './temporary.js'

export interface SmallDisk {
  readonly path: string
  /** Fills all that is left of it. */
  fill(): void
  free(): void
}

/** A file system of some kilobytes; undefined if this process must not mount one. It goes with the test. */
export async function smallDisk(
  test: {after(work: () => unknown): void},
  kilobytes: number,
): Promise<SmallDisk | undefined> {
  const path = await temporaryFolder(test)
  const mounting = ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', path]
  if (execaSync('mount', mounting, {reject: false}).exitCode !== 0) return undefined
  test.after(() => execaSync('umount', ['--lazy', path], {reject: false}))
  const filler = join(path, 'filler')
  return {
    path,
    fill: () => void execaSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k'], {reject: false}),
    free: () => rmSync(filler, {force: true}),
  }
}
