import {chmod, writeFile} from 'node:fs/promises'
import {delimiter, dirname, join} from 'node:path'

/** What a recorder does instead of recording. */
export type FakeRecording =
  /** Plays raw PCM at its own speed, then silence until it is stopped. */
  | {plays: string}
  /** Plays raw PCM at its own speed, again and again until it is stopped. */
  | {repeats: string}
  /** Prints a message to standard error and exits. */
  | {dies: string; after?: string}
  /** Writes nothing. */
  | 'mute'
  /** Writes zeros, faster than their own speed, until it is stopped. */
  | 'zeros'

const program = (recording: FakeRecording) => `#!${process.execPath}
const {readFileSync} = require('node:fs')
const recording = ${JSON.stringify(recording)}
if (recording === 'mute') setInterval(() => undefined, 1000)
else if (recording === 'zeros') setInterval(() => process.stdout.write(Buffer.alloc(32000)), 20)
else if (recording.dies !== undefined) {
  if (recording.after !== undefined) process.stdout.write(readFileSync(recording.after))
  process.stderr.write(recording.dies + '\\n')
  process.exitCode = 1
} else {
  const sound = readFileSync(recording.plays ?? recording.repeats)
  let at = 0
  setInterval(() => {
    if (at >= sound.length && recording.repeats !== undefined) at = 0
    process.stdout.write(at < sound.length ? sound.subarray(at, at + 3200) : Buffer.alloc(3200))
    at += 3200
  }, 100)
}
`

/** Writes a recorder into a folder; returns a PATH on which it is the only one. */
export async function fakeRecorder(folder: string, name: string, recording: FakeRecording): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, program(recording))
  await chmod(file, 0o755)
  return [folder, dirname(process.execPath)].join(delimiter)
}
