import {existsSync} from 'node:fs'
import {delimiter, join} from 'node:path'

/** Programs that some tests need besides Node.js and the tools of every POSIX system, with their Debian packages. */
const packages = {
  Chromium: 'chromium',
  PostgreSQL: 'postgresql',
  bash: 'bash',
  curl: 'curl',
  ffmpeg: 'ffmpeg',
  fish: 'fish',
  git: 'git',
  jq: 'jq',
  pgbouncer: 'pgbouncer',
  python3: 'python3',
  script: 'bsdutils',
  'systemd-analyze': 'systemd',
  zsh: 'zsh',
} as const

export type Program = keyof typeof packages

export const allPrograms = Object.keys(packages) as readonly Program[]

/** Debian package of a program; undefined for other words. */
export const packageOf = (program: string): string | undefined =>
  (packages as Readonly<Record<string, string>>)[program]

/** Path of the first of these programs on the search path. */
export const findProgram = (...names: string[]): string | undefined =>
  names
    .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
    .find((file) => existsSync(file))

/** For the `skip` option of a test: the reason if a program is missing. Its summary says how to install it. */
export const skipUnless = (program: Program, isThere: boolean): string | false => (isThere ? false : `needs ${program}`)

/** The same for programs of that name on the search path: the first one that is missing. */
export function skipWithoutProgram(...names: Program[]): string | false {
  const missing = names.find((name) => findProgram(name) === undefined)
  return missing === undefined ? false : skipUnless(missing, false)
}
