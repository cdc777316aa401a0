import type {Command, Config} from '@oclif/core'
import {nearest, SvcError} from '../errors/index.js'
import {beforeSeparator} from './argv.js'
import {usageOf} from './usage.js'

/** Moves global flags behind the words of the command, and rewrites `help X` to `X --help`, and `version` to `--version`. */
export function commandLine(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = withGlobalFlagsLast(argv)
  if (first === 'help') return [...commandLine(rest), '--help']
  if (first === 'version') return ['--version', ...rest]
  return first === undefined ? [] : [first, ...rest]
}

/** Flags of every command, which may also precede it. */
const isGlobalFlag = (word: string) => /^(--json|--quiet|--debug|--cwd)(=|$)|^-q$|^-C/.test(word)

function withGlobalFlagsLast(argv: readonly string[]): readonly string[] {
  let at = 0
  while (isGlobalFlag(argv[at] ?? '')) at += /^(--cwd|-C)$/.test(argv[at] ?? '') ? 2 : 1
  const [globals, rest] = [argv.slice(0, at), argv.slice(at)]
  const words = leadingWords(rest)
  return words.length === 0
    ? [...rest, ...(rest.length === 0 ? [] : globals)]
    : [...words, ...globals, ...rest.slice(words.length)]
}

const leadingWords = (argv: readonly string[]): readonly string[] => {
  const end = argv.findIndex((word) => word.startsWith('-'))
  return end === -1 ? argv : argv.slice(0, end)
}

/** The command of a command line, or undefined. */
export function commandOf(config: Config, argv: readonly string[]): Command.Loadable | undefined {
  for (let words = leadingWords(argv); words.length > 0; words = words.slice(0, -1)) {
    const command = config.findCommand(words.join(':'))
    if (command !== undefined) return command
  }
  return undefined
}

/** `svc db client [PROGRAM] --output DIR [FLAGS]`; undefined without a command. */
export function usageIn(config: Config, argv: readonly string[]): string | undefined {
  const command = commandOf(config, argv)
  return command && `${config.bin} ${command.id.replaceAll(':', ' ')} ${usageOf(command)}`
}

/** The first example of a command that has its required flags; undefined if it has no required flags. */
export function exampleIn(config: Config, argv: readonly string[]): string | undefined {
  const command = commandOf(config, argv)
  if (command === undefined) return undefined
  const required = Object.values(command.flags).filter(({required}) => required)
  const lines = (command.examples ?? []).map((example) => (typeof example === 'string' ? example : example.command))
  const found = lines.find((line) =>
    required.every(({name, char}) => new RegExp(`(^| )(--${name}|-${char ?? '-'})[ =]`).test(line)),
  )
  if (required.length === 0) return undefined
  return found
    ?.replaceAll('<%= config.bin %>', config.bin)
    .replaceAll('<%= command.id %>', command.id.replaceAll(':', ' '))
}

/** Replaces `--output json` and `-o json` of a command that lists records by `--json`. */
export function withJsonOutput(config: Config, argv: readonly string[]): readonly string[] {
  const output = commandOf(config, argv)?.flags?.output
  if (output?.type !== 'option' || !output.options?.includes('json')) return argv
  const flags = beforeSeparator(argv)
  const at = flags.findIndex((word, i) =>
    /^(-o|--output)$/.test(word) ? flags[i + 1] === 'json' : /^(-o=?|--output=)json$/.test(word),
  )
  if (at === -1) return argv
  return [...argv.slice(0, at), '--json', ...argv.slice(argv[at]?.endsWith('json') ? at + 1 : at + 2)]
}

/** What users of other programs type, and the command here. */
const synonyms: Readonly<Record<string, string>> = {
  chat: 'generate',
  logs: 'orch events',
  ls: 'list',
  models: 'list',
  remove: 'rm',
  run: 'orch submit',
  status: 'orch status',
  start: 'daemon start',
  stop: 'daemon stop',
  'cache clear': 'cache prune',
  'cache ls': 'cache list',
  'cache rm': 'cache prune',
  'config get': 'config show',
  'config list': 'config show',
  'config ls': 'config show',
  'contracts ls': 'contracts list',
  'daemon ps': 'daemon status',
  'db format': 'db fmt',
  'db lint': 'db check',
  'db repl': 'db shell',
  'db run': 'db serve',
  'db sql': 'db query',
  'db start': 'db serve',
  'mcp list': 'mcp tools',
  'mcp ls': 'mcp tools',
  'mcp run': 'mcp serve',
  'mcp start': 'mcp serve',
  'mesh list': 'mesh nodes',
  'mesh ls': 'mesh nodes',
  'mesh ps': 'mesh nodes',
  'orch add': 'orch submit',
  'orch create': 'orch submit',
  'orch delete': 'orch cancel',
  'orch get': 'orch task',
  'orch kill': 'orch cancel',
  'orch list': 'orch tasks',
  'orch logs': 'orch events',
  'orch ls': 'orch tasks',
  'orch ps': 'orch status',
  'orch rm': 'orch cancel',
  'orch run': 'orch submit',
  'orch show': 'orch task',
  'speech list': 'list',
  'speech ls': 'list',
  'workflow logs': 'workflow status',
  'workflow ls': 'workflow list',
  'workflow ps': 'workflow list',
  'workflow show': 'workflow status',
  'workflow start': 'workflow run',
}

/**
 * The error for leading words that are neither a command nor a topic, with the command that the user may mean as
 * suggestion; undefined if they are. A topic alone prints its help.
 */
export function unknownCommand(config: Config, argv: readonly string[]): SvcError | undefined {
  const [first = ''] = argv
  if (first.startsWith('-') && !/^(-h|--help|-v|-V|--version)$/.test(first)) {
    const usage = `${config.bin} COMMAND [ARGUMENTS] [FLAGS]`
    return new SvcError('usage', {reason: `Flags such as ${first.split('=')[0]} must follow the command.`, usage})
  }
  const ids = config.commandIDs.map((id) => id.split(':'))
  const known = (words: readonly string[]) => ids.some((id) => words.every((word, i) => id[i] === word))
  const words: string[] = []
  for (const word of leadingWords(argv)) {
    const command = config.findCommand(words.join(':'))
    words.push(word)
    if (known(words)) continue
    const typed = words.join(' ')
    if (command === undefined) return new SvcError('command_unknown', {command: typed, suggestion: suggest(ids, words)})
    if (Object.keys(command.args).length > 0) return undefined
    const suggestion = nearest(typed, suggestions(deeper(ids, words), words.length))
    if (suggestion !== undefined) return new SvcError('command_unknown', {command: typed, suggestion})
    return new SvcError('usage', {reason: `Unexpected argument ${word}.`, usage: usageIn(config, argv)})
  }
  return undefined
}

/** A synonym, or the only command that ends with this word, or else the most similar one. */
function suggest(ids: readonly string[][], words: readonly string[]): string | undefined {
  const typed = words.join(' ')
  const same = ids.filter((id) => words.length === 1 && id.length === 2 && id[1] === typed)
  const [only] = same.length === 1 ? same : []
  return synonyms[typed] ?? only?.join(' ') ?? nearest(typed, suggestions(ids, words.length))
}

/** The commands of the topic that these words name, except for the last one. */
const deeper = (ids: readonly string[][], words: readonly string[]) =>
  ids.filter((id) => id.length >= words.length && words.slice(0, -1).every((word, i) => id[i] === word))

/** The commands and topics with this number of words, as a user types them. */
const suggestions = (ids: readonly string[][], depth: number) => [
  ...new Set(ids.map((id) => id.slice(0, depth).join(' '))),
]
