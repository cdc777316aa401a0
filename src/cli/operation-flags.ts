import {Args, Flags} from '@oclif/core'
import type {AlphabetLowercase, ArgInput, FlagInput} from '@oclif/core/interfaces'
import type {Call, CliBinding} from '../operations/index.js'
import {splitDefault} from './default-note.js'
import {taskArg, taskFlag} from './orch-command.js'

/** The part of a JSON schema member that the command line uses. */
interface Member {
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly items?: Member
  readonly minimum?: number
  readonly maximum?: number
  readonly description?: string
  readonly default?: unknown
}

/** The members of an operation's input, by their names in the command. */
export const memberNames = ({schema}: Call): string[] => Object.keys(schema.properties ?? {})

/** `session_id` is `--session-id`. */
export const flagName = (name: string): string => name.replaceAll('_', '-')

/** Parsers of arguments that the schema does not describe completely. */
export type WordParsers = Readonly<Record<string, (word: string) => Promise<string>>>

/** Derives the arguments of a command from its operation. @throws TypeError if a member cannot be an argument */
export function operationArgs(call: Call, parsers: WordParsers = {}): ArgInput {
  const {args = []} = bindingOf(call)
  return Object.fromEntries(args.map((name) => [name, argOf(name, call, parsers)]))
}

/** Derives the flags of a command from its operation. @throws TypeError if a member cannot be a flag */
export function operationFlags(call: Call): FlagInput {
  const {args = []} = bindingOf(call)
  const names = memberNames(call).filter((name) => !args.includes(name))
  return Object.fromEntries(names.map((name) => [flagName(name), flagOf(name, call)]))
}

function argOf(name: string, call: Call, {[name]: parse}: WordParsers): ArgInput[string] {
  if (isTask(name, call)) return taskArg
  const member = memberOf(name, call)
  if (isText(member)) return Args.string({...describe(name, call), ...choices(member), ...(parse && {parse})})
  throw new TypeError(`${call.name} cannot have ${name} as an argument`)
}

function flagOf(name: string, call: Call): FlagInput[string] {
  const {chars = {}, placeholders = {}} = bindingOf(call)
  const char = chars[name] as AlphabetLowercase | undefined
  const common = {...describe(name, call), ...(char === undefined ? {} : {char})}
  const valued = (placeholder: string) => ({...common, helpValue: placeholders[name] ?? placeholder})
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

/** The description of a member with its default, and whether it is required. The operation applies the default. */
function describe(name: string, call: Call): {description: string; required: boolean} {
  const member = memberOf(name, call)
  const {required = []} = call.schema as {required?: readonly string[]}
  const notes = [
    ...(bindingOf(call).piped?.includes(name) ? ['- reads standard input'] : []),
    ...(isA(member, 'array') ? ['may be repeated'] : []),
  ]
  const {text, computed} = splitDefault(member.description ?? '')
  const value = computed ?? member.default
  const sentence = notes.reduce((described, note) => described.replace(/\.$/, `; ${note}.`), text)
  return {
    description: value === undefined ? sentence : `${sentence} (default: ${String(value)})`,
    required: required.includes(name),
  }
}

const bindingOf = ({operation}: Call): Partial<CliBinding> => operation.bindings.cli ?? {}

const memberOf = (name: string, {schema}: Call): Member =>
  (schema.properties as Readonly<Record<string, Member>> | undefined)?.[name] ?? {}

/** Task ids are accepted as 42 or T-0042, whatever the name of the member in the command. */
const isTask = (name: string, call: Call): boolean => /(^|[._])task_id$/.test(bindingOf(call).renames?.[name] ?? name)

const isA = ({type}: Member, kind: string): boolean => [type].flat().includes(kind)

const isText = (member: Member): boolean => member.enum !== undefined || isA(member, 'string')

const choices = (member: Member) => (member.enum === undefined ? {} : {options: [...member.enum]})

const bounds = ({minimum: min, maximum: max}: Member) => ({
  ...(min === undefined ? {} : {min}),
  ...(max === undefined ? {} : {max}),
})
