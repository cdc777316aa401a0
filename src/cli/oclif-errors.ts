import {nearest, SvcError} from '../errors/index.js'

interface ParseFailure extends Error {
  parse?: {input?: {flags?: Record<string, {char?: string; hidden?: boolean}>}}
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
    const names = Object.keys(failure.parse?.input?.flags ?? {}).map((name) => `--${name}`)
    return new SvcError('flag_unknown', {flag: unknown, suggestion: nearest(unknown, names)}, {cause: thrown})
  }
  return new SvcError('usage', {reason: sentence(failure.message)}, {cause: thrown})
}

/** The parser's message on one line, without its pointer to --help. */
function sentence(message: string): string {
  const lines = message.split('\n').map((line) => line.trim())
  const text = lines.filter((line) => line !== '' && !/^See more help/.test(line)).join(' ')
  return /[.!?]$/.test(text) ? text : `${text}.`
}
