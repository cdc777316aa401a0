import {spawnSync} from 'node:child_process'

const answer = (args: readonly string[], input?: Buffer) =>
  spawnSync('ffmpeg', ['-nostdin', '-v', 'error', ...args], {...(input && {input}), maxBuffer: 1 << 28})

/** For the `skip` option of a test. */
export const skipWithoutFfmpeg: string | false = answer(['-version']).error === undefined ? false : 'needs ffmpeg'

/** What ffmpeg makes of a file that it may give up in the middle of. */
export const decodeAnyway = (path: string, ...args: string[]): Buffer => answer(['-i', path, ...args]).stdout

/**
 * What ffmpeg makes of a file.
 * @param input what it reads from standard input
 * @param args behind the input
 */
export function ffmpeg(input: Buffer, ...args: string[]): Buffer {
  const {stdout, stderr, status} = answer(['-i', 'pipe:0', ...args], input)
  if (status !== 0) throw new Error(`ffmpeg ends with ${status}: ${stderr}`)
  return stdout
}
