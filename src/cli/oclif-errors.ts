import {nearest, SvcError} from '../errors/index.js'
import {foreignFlags} from './foreign-flags.js'

interface ParseFailure extends Error {
  parse?: {input?: {flags?: Record<string, {aliases?: string[]; allowNo?: boolean}>}}
  /** The unknown flags, as given on the command line. */
  flags?: string[]
}

/** Converts an error of the argument parser to an `SvcError`; undefined for other errors. */
export function fromOclif(thrown: unknown): SvcError | undefined {
  // The parser changes the message of an error that a flag throws; the record still has the original.
  if (thrown instanceof SvcError) return SvcError.fromRecord(thrown.toRecord())
  if (!(thrown instanceof Error)) return undefined
  if (!('oclif' in thrown) && !('parse' in thrown)) return undefined
  const failure = thrown as ParseFailure
  const unknown = failure.flags?.[0]
  if (thrown.constructor.name === 'NonExistentFlagsError' && unknown !== undefined) {
    const [flag = unknown] = unknown.split('=')
    const flags = Object.entries(failure.parse?.input?.flags ?? {})
    const names = flags.flatMap(([name, {aliases = [], allowNo = false}]) =>
      [name, ...aliases, ...(allowNo ? [`no-${name}`] : [])].map((spelling) => `--${spelling}`),
    )
    return new SvcError('flag_unknown', {flag, suggestion: suggestFlag(flag, names)}, {cause: thrown})
  }
  return new SvcError('usage', {reason: sentence(failure.message)}, {cause: thrown})
}

/** The equivalent of another program's flag, or else the nearest flag of the command. */
function suggestFlag(typed: string, names: readonly string[]): string | undefined {
  const flag = typed.replaceAll('_', '-')
  const equivalent = foreignFlags[flag]
  const exists = equivalent !== undefined && names.includes(equivalent.split(' ')[0] ?? '')
  return exists ? equivalent : nearest(flag, names)
}

/** The parser's message on one line, without its reference to --help. */
function sentence(message: string): string {
  const lines = message.split('\n').map((line) => line.trim())
  const text = lines.filter((line) => line !== '' && !/^See more help/.test(line)).join(' ')
  return /[.!?]$/.test(text) ? text : `${text}.`
}
