import {Args, Flags} from '@oclif/core'
import type {AlphabetLowercase, ArgInput, FlagInput} from '@oclif/core/interfaces'
import type {Call, CliBinding} from '../operations/index.js'
import {taskArg, taskFlag} from './orch-command.js'

/** A member of an input, as far as the command line asks. */
interface Member {
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly items?: Member
  readonly minimum?: number
  readonly maximum?: number
  readonly description?: string
}

/** What an operation takes, by the names that its command has for it. */
export const memberNames = ({schema}: Call): string[] => Object.keys(schema.properties ?? {})

/** `session_id` is `--session-id`. */
export const flagName = (name: string): string => name.replaceAll('_', '-')

/** How words are read that the schema says too little of. */
export type WordParsers = Readonly<Record<string, (word: string) => Promise<string>>>

/** The arguments of a command, from what its operation takes. @throws TypeError where a member cannot be one */
export function operationArgs(call: Call, parsers: WordParsers = {}): ArgInput {
  const {args = []} = bindingOf(call)
  return Object.fromEntries(args.map((name) => [name, argOf(name, call, parsers)]))
}

/** The flags of a command, from what its operation takes. @throws TypeError where a member cannot be one */
export function operationFlags(call: Call): FlagInput {
  const {args = []} = bindingOf(call)
  const names = memberNames(call).filter((name) => !args.includes(name))
  return Object.fromEntries(names.map((name) => [flagName(name), flagOf(name, call)]))
}

function argOf(name: string, call: Call, {[name]: parse}: WordParsers): ArgInput[string] {
  if (isTask(name, call)) return taskArg
  const member = memberOf(name, call)
  if (isText(member)) return Args.string({...shown(name, call), ...choices(member), ...(parse && {parse})})
  throw new TypeError(`${call.name} cannot take ${name} as an argument`)
}

function flagOf(name: string, call: Call): FlagInput[string] {
  const {chars = {}, placeholders = {}} = bindingOf(call)
  const char = chars[name] as AlphabetLowercase | undefined
  const common = {...shown(name, call), ...(char === undefined ? {} : {char})}
  const valued = (otherwise: string) => ({...common, helpValue: placeholders[name] ?? otherwise})
  const member = memberOf(name, call)
  const {items = {}} = member

  if (isTask(name, call)) return taskFlag(valued('ID'))
  if (isText(member)) return Flags.string({...(member.enum ? common : valued('TEXT')), ...choices(member)})
  if (isA(member, 'integer')) return Flags.integer({...valued('N'), ...bounds(member)})
  if (isA(member, 'boolean')) return Flags.boolean(common)
  if (isA(member, 'array') && isText(items)) {
    const many = {multiple: true, multipleNonGreedy: true} as const
    return Flags.string({...valued(flagName(name).toUpperCase()), ...choices(items), ...many})
  }
  throw new TypeError(`${call.name} cannot have a flag for ${name}`)
}

/** Its own sentence, and whether it must be given. */
function shown(name: string, call: Call): {description: string; required: boolean} {
  const member = memberOf(name, call)
  const {required = []} = call.schema as {required?: readonly string[]}
  const ways = [
    ...(bindingOf(call).piped?.includes(name) ? ['- reads it from standard input'] : []),
    ...(isA(member, 'array') ? ['may be repeated'] : []),
  ]
  return {
    description: ways.reduce((sentence, way) => sentence.replace(/\.$/, `; ${way}.`), member.description ?? ''),
    required: required.includes(name),
  }
}

const bindingOf = ({operation}: Call): Partial<CliBinding> => operation.bindings.cli ?? {}

const memberOf = (name: string, {schema}: Call): Member =>
  (schema.properties as Readonly<Record<string, Member>> | undefined)?.[name] ?? {}

/** A task is given as 42 or T-0042, whatever the command calls it. */
const isTask = (name: string, call: Call): boolean => /(^|[._])task_id$/.test(bindingOf(call).renames?.[name] ?? name)

const isA = ({type}: Member, kind: string): boolean => [type].flat().includes(kind)

const isText = (member: Member): boolean => member.enum !== undefined || isA(member, 'string')

const choices = (member: Member) => (member.enum === undefined ? {} : {options: [...member.enum]})

const bounds = ({minimum: min, maximum: max}: Member) => ({
  ...(min === undefined ? {} : {min}),
  ...(max === undefined ? {} : {max}),
})
