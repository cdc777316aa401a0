import {nearest, SvcError} from '../errors/index.js'
import {foreignFlags} from './foreign-flags.js'

interface ParseFailure extends Error {
  parse?: {input?: {flags?: Record<string, {aliases?: string[]}>}}
  /** Of an unknown flag: the flags that were given. */
  flags?: string[]
}

/** An error of the argument parser as a row of the catalogue, one of our own as it was; undefined for all others. */
export function fromOclif(thrown: unknown): SvcError | undefined {
  // The parser writes its own words around the message of an error that a flag throws.
  if (thrown instanceof SvcError) return SvcError.fromRecord(thrown.toRecord())
  if (!(thrown instanceof Error)) return undefined
  if (!('oclif' in thrown) && !('parse' in thrown)) return undefined
  const failure = thrown as ParseFailure
  const unknown = failure.flags?.[0]
  if (thrown.constructor.name === 'NonExistentFlagsError' && unknown !== undefined) {
    const [flag = unknown] = unknown.split('=')
    const flags = Object.entries(failure.parse?.input?.flags ?? {})
    const names = flags.flatMap(([name, {aliases = []}]) => [name, ...aliases].map((spelling) => `--${spelling}`))
    return new SvcError('flag_unknown', {flag, suggestion: suggestFlag(flag, names)}, {cause: thrown})
  }
  return new SvcError('usage', {reason: sentence(failure.message)}, {cause: thrown})
}

/** The flag of a command that a flag of another program means, or else the nearest one. */
function suggestFlag(typed: string, names: readonly string[]): string | undefined {
  const flag = typed.replaceAll('_', '-')
  const meant = foreignFlags[flag]
  return meant !== undefined && names.includes(meant.split(' ')[0] ?? '') ? meant : nearest(flag, names)
}

/** The parser's message on one line, without its pointer to --help. */
function sentence(message: string): string {
  const lines = message.split('\n').map((line) => line.trim())
  const text = lines.filter((line) => line !== '' && !/^See more help/.test(line)).join(' ')
  return /[.!?]$/.test(text) ? text : `${text}.`
}
