import type {Command} from '@oclif/core'
import {flagGroups, hasExamplesFirst} from '../../src/cli/flag-groups.js'
import {helpFlag} from '../../src/cli/help.js'
import {loadCommands} from '../../src/cli/package.js'
import {argumentsOf} from '../../src/cli/usage.js'
import {settingTables} from '../../src/config/index.js'
import {Exit} from '../../src/errors/index.js'

/** A manual page: its file name and its text in man(7) macros. */
export interface ManualPage {
  file: string
  text: string
}

/** Generates the manual, `svc.1` and a page per command, from the same declarations as `--help`. */
export async function manualPages(): Promise<ManualPage[]> {
  const {commands, pjson, version} = await loadCommands()
  const visible = commands.filter(({hidden}) => !hidden).sort((a, b) => a.id.localeCompare(b.id))
  const context = {bin: 'svc', version}
  return [
    {file: 'svc.1', text: overview(pjson.description ?? '', visible, context)},
    ...visible.map((command) => ({file: `${pageName(command.id)}.1`, text: commandPage(command, context)})),
  ]
}

interface Context {
  bin: string
  version: string
}

type Loadable = Command.Loadable

const pageName = (id: string) => `svc-${id.replaceAll(':', '-')}`
const typed = (id: string) => `svc ${id.replaceAll(':', ' ')}`

function overview(description: string, commands: readonly Loadable[], context: Context): string {
  return page('svc', context, [
    ['NAME', `svc \\- ${troff(description)}`],
    ['SYNOPSIS', '.B svc\n\\fICOMMAND\\fR [\\fIARGUMENTS\\fR] [\\fIFLAGS\\fR]'],
    ['COMMANDS', commands.map(({id, summary = ''}) => item(`\\fB${troff(typed(id))}\\fR`, summary)).join('')],
    ['EXIT STATUS', exitStatus()],
    ['ENVIRONMENT', environment()],
    [
      'FILES',
      item('\\fISvc.toml\\fR', 'Workspace settings, in the current directory or the nearest parent directory.'),
    ],
    ['SEE ALSO', commands.map(({id}) => `.BR ${pageName(id)} (1)`).join(',\n')],
  ])
}

function commandPage(command: Loadable, context: Context): string {
  const {id, summary = '', description = '', flags} = command
  const args = Object.values(argumentsOf(command))
  const shown = Object.values(flags).filter(({hidden}) => !hidden)
  const groups = flagGroups(shown).map(
    ([heading, declared]) =>
      [
        heading === 'GLOBAL' ? 'COMMON FLAGS' : `${heading.toUpperCase()} FLAGS`.trim(),
        declared.map((one) => flag(helpFlag(one))).join(''),
      ] as const,
  )
  const shownExamples = ['EXAMPLES', examples(command, context)] as const
  const isFirst = hasExamplesFirst(command)
  return page(pageName(id), context, [
    ['NAME', `${pageName(id)} \\- ${troff(summary)}`],
    ['SYNOPSIS', `.B ${troff(typed(id))}\n${args.map(argument).join(' ')} [\\fIFLAGS\\fR]`],
    ...(isFirst ? [shownExamples] : []),
    ['DESCRIPTION', paragraphs(description)],
    ['ARGUMENTS', args.map((arg) => item(argument(arg), arg.description ?? '')).join('')],
    ...groups,
    ...(isFirst ? [] : [shownExamples]),
    ['EXIT STATUS', exitStatus()],
    ['SEE ALSO', '.BR svc (1)'],
  ])
}

function page(name: string, {version}: Context, sections: readonly (readonly [string, string])[]): string {
  const body = sections.filter(([, text]) => text !== '').map(([title, text]) => `.SH ${title}\n${text.trimEnd()}\n`)
  return `.TH ${name.toUpperCase()} 1 "" "svc ${version}" "svc manual"\n${body.join('')}`
}

function argument({name, required, multiple}: {name: string; required?: boolean; multiple?: boolean}): string {
  const shown = `\\fI${name.toUpperCase()}\\fR${multiple ? '...' : ''}`
  return required ? shown : `[${shown}]`
}

function flag(declared: Loadable['flags'][string]): string {
  const {char, name, description = '', type} = declared
  const value = type === 'option' ? ` \\fI${troff(placeholder(declared))}\\fR` : ''
  const spelt = type === 'boolean' && declared.allowNo ? `[no-]${name}` : name
  const names = [...(char === undefined ? [] : [`\\fB\\-${char}\\fR`]), `\\fB\\-\\-${troff(spelt)}\\fR${value}`]
  return item(names.join(', '), `${description}${declared.required ? ' Required.' : ''}`)
}

const placeholder = (declared: Loadable['flags'][string]) => ('helpValue' in declared ? `${declared.helpValue}` : '')

function examples({examples: declared = [], id}: Loadable, {bin}: Context): string {
  const lines = declared.map((example) => (typeof example === 'string' ? example : example.command))
  const expand = (line: string) =>
    line.replaceAll('<%= config.bin %>', bin).replaceAll('<%= command.id %>', id.replaceAll(':', ' '))
  return lines.length === 0 ? '' : `.nf\n${lines.map((line) => troff(expand(line))).join('\n')}\n.fi\n`
}

const exitMeanings: readonly (readonly [number, string])[] = [
  [Exit.ok, 'Success.'],
  [Exit.failed, 'The operation failed.'],
  [Exit.usage, 'Invalid command line or configuration.'],
  [Exit.notFound, 'Not found; for some commands, no daemon is running or a decision is required.'],
  [Exit.conflict, 'Conflict, or access denied (token, scope or policy).'],
  [Exit.unavailable, 'A server, port, device or database is unavailable, or a time limit was reached.'],
  [Exit.interrupted, 'Interrupted (SIGINT).'],
  [Exit.terminated, 'Terminated (SIGTERM).'],
]

const exitStatus = () => exitMeanings.map(([status, meaning]) => item(`\\fB${status}\\fR`, meaning)).join('')

/** All environment variables of settings, with the TOML key of each. */
function environment(): string {
  const settings = settingTables.flatMap(({rows}) => Object.values(rows))
  return settings
    .filter(({env = []}) => env.length > 0)
    .map(({env = [], toml = [], type, doc, default: fallback}) => {
      const facts = [
        `Must be ${type.expected}.`,
        ...(fallback === undefined ? [] : [`Default: ${fallback}.`]),
        ...(toml.length === 0 ? [] : [`In Svc.toml: ${toml.join(', ')}.`]),
      ]
      return item(env.map((name) => `\\fB${name}\\fR`).join(', '), [doc, ...facts].join(' '))
    })
    .join('')
}

const item = (term: string, text: string) => `.TP\n${term}\n${troff(text)}\n`

const paragraphs = (text: string) =>
  text
    .split(/\n{2,}/)
    .map((paragraph) => troff(paragraph.replaceAll('\n', ' ')))
    .join('\n.PP\n')

/** Escapes backslashes, dashes, and a dot or quote at the start of a line, which are special in troff. */
const troff = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')
