import {spawnSync} from 'node:child_process'
import {skipWithoutProgram} from './programs.js'

const answer = (args: readonly string[], input?: Buffer) =>
  spawnSync('ffmpeg', ['-nostdin', '-v', 'error', ...args], {...(input && {input}), maxBuffer: 1 << 28})

/** For the `skip` option of a test. */
export const skipWithoutFfmpeg = skipWithoutProgram('ffmpeg')

/** Output of ffmpeg for a file, even if it fails partway. */
export const decodeAnyway = (path: string, ...args: string[]): Buffer => answer(['-i', path, ...args]).stdout

/** Writes a film with an audio track per recording; `options` are those of its output. */
export function writeFilm(path: string, recordings: readonly string[], options: readonly string[]): void {
  const picture = ['-f', 'lavfi', '-i', 'color=c=black:s=64x64:d=1']
  const maps = ['-map', '0:v', ...recordings.flatMap((_, i) => ['-map', `${i + 1}:a`])]
  const {stderr, status} = answer([
    ...picture,
    ...recordings.flatMap((recording) => ['-i', recording]),
    ...maps,
    ...['-c:a', 'flac', ...options, path],
  ])
  if (status !== 0) throw new Error(`ffmpeg ends with ${status}: ${stderr}`)
}

/**
 * Output of ffmpeg for a file.
 * @param input standard input
 * @param args arguments after the input
 */
export function ffmpeg(input: Buffer, ...args: string[]): Buffer {
  const {stdout, stderr, status} = answer(['-i', 'pipe:0', ...args], input)
  if (status !== 0) throw new Error(`ffmpeg ends with ${status}: ${stderr}`)
  return stdout
}
