import {nearest, SvcError} from '../errors/index.js'
import {foreignFlags} from './foreign-flags.js'

interface FlagDefinition {
  aliases?: string[]
  allowNo?: boolean
  required?: boolean
  type?: string
  helpValue?: string
  options?: string[]
  description?: string
}

interface ParseFailure extends Error {
  parse?: {input?: {flags?: Record<string, FlagDefinition>}; output?: {flags?: Record<string, unknown>}}
  /** The unknown flags, as given on the command line. */
  flags?: string[]
  /** The missing arguments, or the unexpected ones. */
  args?: ({name: string; description?: string} | string)[]
}

/** Sentences of the parser of oclif, and ours. */
const sentences: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [
    /^Expected --(\S+?)=(.*) to be one of: (.*)$/s,
    (flag, value, values) => notOneOf(`--${flag}`, value, values.split(', ')),
  ],
  [/^Expected (.*) to be one of: (.*)$/s, (value, values) => notOneOf('The argument', value, values.split(', '))],
  [
    /^Parsing --(\S+) Expected an integer( greater than or equal to \S+| less than or equal to \S+)? but received: (.*)$/s,
    (flag, limit, value) => `--${flag} must be an integer${limit}, not "${value}".`,
  ],
  [/^Flag --(\S+) expects a value$/, (flag) => `--${flag} needs a value.`],
  [
    /^Flag --(\S+) expects one of these values: (.*)$/,
    (flag, values) => `--${flag} needs a value: ${oneOf(values.split(', '))}.`,
  ],
  [/^Flag --(\S+) can only be specified once$/, (flag) => `--${flag} must be given only once.`],
  [
    /^--([^=\s]+)=.* cannot also be provided when using --(\S+)$/s,
    (one, other) => `--${one} and --${other} exclude each other.`,
  ],
  [
    /^All of the following must be provided when using --(\S+): (.*)$/,
    (flag, others) => `--${flag} requires ${others}.`,
  ],
  [
    /^One of the following must be provided when using --(\S+): (.*)$/,
    (flag, others) => `--${flag} requires ${oneOf(others.split(', '))}.`,
  ],
  [/^Exactly one of the following must be provided: (.*)$/, (flags) => `Pass ${oneOf(flags.split(', '))}.`],
  [/^At least one of the following must be provided: (.*)$/, (flags) => `Pass ${oneOf(flags.split(', '))}.`],
]

const oneOf = (names: readonly string[]): string =>
  names.length === 1 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`

function notOneOf(name: string, value: string, values: readonly string[]): string {
  const suggestion = nearest(value, values)
  return `${name} must be ${oneOf(values)}, not "${value}".${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`
}

/** How a command is called. */
export interface Usage {
  readonly line?: string | undefined
  /** A command line with all required flags. */
  readonly example?: string | undefined
}

/** Converts an error of the argument parser to an `SvcError`; undefined for other errors. */
export function fromOclif(thrown: unknown, {line: usage, example}: Usage = {}): SvcError | undefined {
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
  const reason = reasonOf(failure)
  const isMissing = reason.startsWith('Missing flag')
  return new SvcError('usage', {reason, usage, example: isMissing ? example : undefined}, {cause: thrown})
}

function reasonOf(failure: ParseFailure): string {
  const args = (failure.args ?? []).map((arg) => (typeof arg === 'string' ? arg : arg.name.toUpperCase()))
  const {name} = failure.constructor
  if (name === 'RequiredArgsError') return `Missing ${plural('argument', args)}.`
  if (name === 'UnexpectedArgsError') return `Unexpected ${plural('argument', args)}.`
  const {input, output} = failure.parse ?? {}
  if (/^The following errors? occurred:\s+Missing required flag /.test(failure.message)) {
    const missing = Object.entries(input?.flags ?? {})
      .filter(([flag, {required}]) => required && output?.flags?.[flag] === undefined)
      .map(([flag, definition]) => `--${flag}${placeholderOf(definition)}`)
    return `Missing ${plural('flag', missing)}.`
  }
  const message = sentence(failure.message)
  for (const [pattern, ours] of sentences) {
    const [, ...parts] = pattern.exec(message) ?? []
    if (parts.length > 0) return ours(...parts.map((part = '') => part))
  }
  return /[.!?]$/.test(message) ? message : `${message}.`
}

const plural = (word: string, names: readonly string[]): string =>
  `${names.length === 1 ? word : `${word}s`} ${names.join(', ')}`

const placeholderOf = ({type, helpValue, options}: FlagDefinition): string => {
  const placeholder = helpValue ?? options?.join('|')
  return type === 'boolean' || placeholder === undefined ? '' : ` ${placeholder}`
}

/** The equivalent of another program's flag, or else the nearest flag of the command. */
function suggestFlag(typed: string, names: readonly string[]): string | undefined {
  const flag = typed.replaceAll('_', '-')
  const equivalent = foreignFlags[flag]
  const exists = equivalent !== undefined && names.includes(equivalent.split(' ')[0] ?? '')
  return exists ? equivalent : nearest(flag, names)
}

/** The first sentence of the parser on one line, without its heading and its reference to --help. */
function sentence(message: string): string {
  const lines = message.split('\n').map((line) => line.trim())
  const [text = '', ...others] = lines.filter(
    (line) => line !== '' && !/^(See more help|The following errors? occurred:)/.test(line),
  )
  return /^Parsing --/.test(text) ? [text, ...others].join(' ') : text
}
