import {stripVTControlCharacters} from 'node:util'
import {type Command, CommandHelp, Help} from '@oclif/core'
import type {Config, HelpOptions} from '@oclif/core/interfaces'
import {flagGroups, hasExamplesFirst} from './flag-groups.js'
import {argumentsOf, usageOf} from './usage.js'

type HelpSectionBody = ReturnType<CommandHelp['args']>
type ListOptions = Parameters<CommandHelp['renderList']>[1]

/** The commands and topics of `svc --help`, in the order in which a new user meets them. */
export const commandGroups: readonly (readonly [header: string, names: readonly string[]])[] = [
  [
    'SPEECH AND LANGUAGE MODELS',
    [
      'transcribe',
      'listen',
      'speech',
      'run',
      'generate',
      'serve',
      'launch',
      'ps',
      'stop',
      'pull',
      'list',
      'show',
      'rm',
      'model',
      'adapter',
      'merge',
      'verify',
      'verify-receipt',
      'cache',
    ],
  ],
  ['DATABASE', ['db', 'lsp']],
  ['TASKS AND AGENTS', ['orch', 'workflow', 'daemon', 'dashboard', 'a2a', 'mcp']],
  ['MESH', ['mesh']],
  [
    'CONFIGURATION AND HELP',
    ['ask', 'init', 'config', 'contracts', 'doctor', 'bench', 'explain', 'completion', 'help', 'version'],
  ],
]

/** Summaries for names in `commandGroups` that are not commands. */
const summaries: Readonly<Record<string, string>> = {
  help: 'Show help for a command; same as --help.',
  version: 'Show the version; same as --version.',
}

/** First commands, printed by `svc` without arguments. */
const firstCommands = [
  ['transcribe FILE', 'Transcribe an audio file to text.'],
  ['serve', 'Serve a model over HTTP.'],
  ['db serve FILE.svc', 'Serve a data language program over HTTP.'],
  ['orch submit DESCRIPTION', 'Submit a task to the queue of this workspace.'],
  ['ask QUESTION', 'Answer a question about svc from its documentation.'],
  ['--help', 'List all commands.'],
] as const

type Flag = Command.Flag.Cached

/** Width of the names of flags, in columns, above which a second column would be too narrow for their descriptions. */
const widestName = 36

/** A flag as the help shows it: with a placeholder named after it (`--line-width=WIDTH`), and its default at the end. */
export function helpFlag(flag: Flag): Flag {
  if (flag.type !== 'option') return flag
  const {description = '', default: fallback} = flag
  const helpValue = flag.helpValue ?? flag.options?.join('|') ?? flag.name.split('-').at(-1)?.toUpperCase() ?? ''
  return {...flag, default: undefined, helpValue, description: withDefault(description, fallback)} as Flag
}

const withDefault = (description: string, fallback: unknown): string =>
  fallback === undefined || fallback === '' ? description : `${description} (default: ${String(fallback)})`

/** oclif lists every flag in the usage line, and treats all flags that exclude one flag as alternatives of each other. */
export class SvcCommandHelp extends CommandHelp {
  constructor(command: Command.Loadable, config: Config, opts: HelpOptions) {
    super({...command, args: argumentsOf(command), strict: true}, config, opts)
  }

  /**
   * The description only: oclif repeats the summary, which is the first line of the help. Lines break before or after the
   * names of commands, so that they can be copied.
   */
  protected override description(): string | undefined {
    const {description} = this.command
    if (!description) return undefined
    const names = [...this.config.commandIDs, ...this.config.topics.map(({name}) => name)]
      .map((id) => `svc ${id.replaceAll(':', ' ')}`)
      .sort((a, b) => b.length - a.length)
    const joined = names.reduce((text, name) => text.replaceAll(name, name.replaceAll(' ', '\u00A0')), description)
    return this.wrap(joined).replaceAll('\u00A0', ' ')
  }

  protected override args(args: Command.Arg.Any[]): HelpSectionBody {
    return super.args(
      args.map(({default: fallback, ...arg}) => ({...arg, description: withDefault(arg.description ?? '', fallback)})),
    )
  }

  protected override flags(flags: Command.Flag.Any[]): HelpSectionBody {
    return super.flags(flags.map((flag) => helpFlag(flag as Flag)))
  }

  /** oclif sorts the headings like the first of their flags. */
  protected override groupFlags(flags: Command.Flag.Any[]): ReturnType<CommandHelp['groupFlags']> {
    const {mainFlags, flagGroups: sorted} = super.groupFlags(flags)
    const headings = flagGroups(Object.values(this.command.flags)).map(([heading]) => heading)
    const named = headings.flatMap((heading) => (sorted[heading] === undefined ? [] : [[heading, sorted[heading]]]))
    return {mainFlags, flagGroups: Object.fromEntries(named)}
  }

  /** Examples explain a command with many flags better than the flags do, and come before them. */
  protected override sections(): ReturnType<CommandHelp['sections']> {
    const sections = super.sections()
    if (!hasExamplesFirst(this.command)) return sections
    const isExamples = ({header}: {header: string}) => header === 'EXAMPLES'
    const [usage, ...others] = sections.filter((section) => !isExamples(section))
    return usage === undefined ? sections : [usage, ...sections.filter(isExamples), ...others]
  }

  /** Shell commands start with a prompt, including those that do not start with svc. */
  protected override examples(examples: Command.Example[] | string | undefined): string | undefined {
    const {bin} = this.config
    const prompted = [examples ?? []].flat().map((example) => {
      const line = this.render(typeof example === 'string' ? example : example.command)
      return line.startsWith(bin) ? line : `$ ${line}`
    })
    return super.examples(prompted)
  }

  /** Prints descriptions below wide names. oclif wraps such descriptions two columns too late. */
  override renderList(input: (string | undefined)[][], opts: ListOptions): string {
    const list = super.renderList(input, opts)
    const isWide = input.some(([name = '']) => stripVTControlCharacters(name).length > widestName)
    if (!isWide && !list.includes('\n\n')) return list
    return super.renderList(input, {...opts, multiline: true, indentation: opts.indentation + 2})
  }

  protected override defaultUsage(): string {
    return `<%= command.id %> ${usageOf(this.command)}`
  }
}

/** The help of svc: oclif's, with short usage lines, grouped commands, and a few lines for `svc` alone. */
export default class SvcHelp extends Help {
  protected override CommandHelpClass = SvcCommandHelp

  override async showHelp(argv: string[]): Promise<void> {
    if (argv.length > 0) return super.showHelp(argv)
    this.log(
      this.renderList(
        firstCommands.map(([words, summary]) => [`svc ${words}`, summary]),
        {indentation: 0},
      ),
    )
  }

  protected override async showRootHelp(): Promise<void> {
    const {pjson, userAgent} = this.config
    const groups = commandGroups.map(([header, names]) =>
      this.section(
        header,
        names.map((name) => [name, this.#summaryOf(name)] as [string, string]),
      ),
    )
    const usage = [this.section('USAGE', '$ svc COMMAND [ARGUMENTS] [FLAGS]'), this.section('VERSION', userAgent)]
    this.log([this.wrap(pjson.description ?? '', 0), ...usage, ...groups, ''].join('\n\n'))
  }

  #summaryOf(name: string): string {
    return summaries[name] ?? this.config.findCommand(name)?.summary ?? this.config.findTopic(name)?.description ?? ''
  }
}
