import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {packageRoot} from '../../files/index.js'

/** A flag in the manifest of commands. */
export interface FlagEntry {
  readonly name: string
  readonly type: 'boolean' | 'option'
  readonly char?: string
  readonly aliases?: readonly string[]
  readonly description?: string
  readonly helpValue?: string
  readonly hidden?: boolean
  readonly options?: readonly string[]
  readonly multiple?: boolean
  readonly allowNo?: boolean
}

/** An argument in the manifest of commands. */
export interface ArgumentEntry {
  readonly name: string
  readonly description?: string
  readonly options?: readonly string[]
  readonly multiple?: boolean
}

/** A command in the manifest. */
export interface CommandEntry {
  readonly id: string
  readonly summary?: string
  readonly hidden?: boolean
  readonly strict?: boolean
  readonly hiddenAliases?: readonly string[]
  readonly aliases?: readonly string[]
  readonly args: Readonly<Record<string, ArgumentEntry>>
  readonly flags: Readonly<Record<string, FlagEntry>>
}

/** Commands and topics by their words. */
export interface CommandTree {
  readonly commands: ReadonlyMap<string, CommandEntry>
  /** Descriptions of topics. */
  readonly topics: ReadonlyMap<string, string>
}

/** Reads the commands from the manifest, without oclif, which takes longer to load than a completion may take. */
export function readCommandTree(root: string = packageRoot): CommandTree {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const {commands} = read('oclif.manifest.json') as {commands: Record<string, CommandEntry>}
  const {oclif} = read('package.json') as {oclif: {topics: Record<string, {description: string}>}}
  const words = (id: string) => id.replaceAll(':', ' ')
  return {
    commands: new Map(
      Object.values(commands)
        .filter(({hidden}) => !hidden)
        .map((command) => [words(command.id), command]),
    ),
    topics: new Map(Object.entries(oclif.topics).map(([id, {description}]) => [words(id), description])),
  }
}
