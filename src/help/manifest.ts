import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {packageRoot} from '../files/index.js'

export interface Flag {
  name: string
  char?: string
  type: 'boolean' | 'option'
  description?: string
  helpValue?: string
  options?: readonly string[]
  allowNo?: boolean
  required?: boolean
  helpGroup?: string
  hidden?: boolean
}

export interface Argument {
  name: string
  description?: string
  required?: boolean
  multiple?: boolean
  options?: readonly string[]
}

/** A command as the manifest declares it. */
export interface CommandEntry {
  id: string
  summary?: string
  description?: string
  examples?: readonly string[]
  hidden?: boolean
  strict?: boolean
  flags: Readonly<Record<string, Flag>>
  args: Readonly<Record<string, Argument>>
}

/** Commands by their ids, such as `orch:submit`. */
export type Commands = Readonly<Record<string, CommandEntry>>

export async function readCommands(): Promise<Commands> {
  const manifest = JSON.parse(await readFile(join(packageRoot, 'oclif.manifest.json'), 'utf8')) as {commands: Commands}
  return manifest.commands
}

/** A command as a user types it: `svc orch submit`. */
export const nameOf = ({id}: Pick<CommandEntry, 'id'>): string => `svc ${id.replaceAll(':', ' ')}`

/** The description of a command, its examples and its own flags, as Markdown. */
export function helpText(command: CommandEntry): string {
  const {description, examples = [], flags, args} = command
  const fill = (text: string) =>
    text.replaceAll('<%= config.bin %>', 'svc').replaceAll('<%= command.id %>', command.id.replaceAll(':', ' '))
  const own = Object.values(flags).filter(({helpGroup, hidden}) => helpGroup !== 'GLOBAL' && !hidden)
  const items = [
    ...Object.values(args).map(({name, description = ''}) => `- \`${name.toUpperCase()}\`: ${description}`),
    ...own.map(({name, type, helpValue = name.toUpperCase(), options, description = ''}) => {
      const value = type === 'option' ? ` ${options?.join('|') ?? helpValue}` : ''
      return `- \`--${name}${value}\`: ${description}`
    }),
  ]
  const shown =
    examples.length === 0 ? [] : [`\`\`\`console\n${examples.map((line) => `$ ${fill(line)}\n`).join('')}\`\`\``]
  return [...(description === undefined ? [] : [description]), ...shown, items.join('\n')].filter(Boolean).join('\n\n')
}
