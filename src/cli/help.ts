import {type Command, CommandHelp, Help} from '@oclif/core'
import type {Config, HelpOptions} from '@oclif/core/interfaces'

/** The commands and topics of `svc --help`, in the order in which a new user meets them. */
export const commandGroups: readonly (readonly [header: string, names: readonly string[]])[] = [
  ['SPEECH AND LANGUAGE MODELS', ['transcribe', 'listen', 'speech', 'generate', 'serve', 'merge']],
  ['DATABASE', ['db', 'lsp']],
  ['TASKS AND AGENTS', ['orch', 'daemon', 'a2a', 'mcp']],
  ['MESH', ['mesh']],
  ['CONFIGURATION AND HELP', ['config', 'contracts', 'doctor', 'explain', 'autocomplete', 'help', 'version']],
]

/** Summaries for names in `commandGroups` that are not commands, and for the one of the oclif plugin. */
const summaries: Readonly<Record<string, string>> = {
  autocomplete: 'Show how to set up shell completion.',
  help: 'Show the help of a command, as --help does.',
  version: 'Show the version, as --version does.',
}

/** First commands, printed by `svc` without arguments. */
const firstCommands = [
  ['transcribe FILE', 'Transcribe an audio file to text.'],
  ['serve --model DIR', 'Serve a model to Ollama and OpenAI clients.'],
  ['db serve FILE.svc', 'Serve a data language program over HTTP.'],
  ['orch submit DESCRIPTION', 'Submit a task to the queue of this workspace.'],
  ['--help', 'List all commands.'],
] as const

/** Arguments of a command. Without `strict`, the last one repeats; oclif would show all of them as repeatable. */
export const argumentsOf = ({args, strict = true}: Command.Loadable): Command.Loadable['args'] =>
  Object.fromEntries(
    Object.entries(args).map(([name, arg], i, {length}) => {
      const isRepeated = arg.multiple || (!strict && i === length - 1)
      return [name, isRepeated ? {...arg, multiple: true} : arg]
    }),
  )

/** oclif lists every flag in the usage line, and treats all flags that exclude one flag as alternatives of each other. */
export class SvcCommandHelp extends CommandHelp {
  constructor(command: Command.Loadable, config: Config, opts: HelpOptions) {
    super({...command, args: argumentsOf(command), strict: true}, config, opts)
  }

  /** The description only: oclif repeats the summary, which is the first line of the help. */
  protected override description(): string | undefined {
    const {description} = this.command
    return description ? this.wrap(description) : undefined
  }

  protected override defaultUsage(): string {
    const {args, flags} = this.command
    const words = Object.values(args).map(({name, required, multiple}) => {
      const word = `${name.toUpperCase()}${multiple ? '...' : ''}`
      return required ? word : `[${word}]`
    })
    const required = Object.values(flags).flatMap((flag) => {
      if (!flag.required || flag.type !== 'option') return []
      const {helpValue = flag.options?.join('|') ?? flag.name.toUpperCase(), multiple} = flag
      return [`--${flag.name} ${helpValue}${multiple ? '...' : ''}`]
    })
    return ['<%= command.id %>', ...words, ...required, '[FLAGS]'].join(' ')
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
