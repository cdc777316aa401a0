import {constants} from 'node:fs'
import {copyFile, lstat, readFile, realpath} from 'node:fs/promises'
import {posix, win32} from 'node:path'
import {isDeepStrictEqual} from 'node:util'
import type {ParseError} from 'jsonc-parser'
import {isObject} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {writeFault, writeFileAtomic} from '../files/index.js'

/** Command with which a client starts a server. */
export interface ServerEntry {
  type?: 'stdio'
  command: string
  args: string[]
}

export type ClientName = 'claude' | 'cursor' | 'vscode' | 'zed'

export interface UserFolders {
  platform: NodeJS.Platform
  home: string
  env: NodeJS.ProcessEnv
}

interface Client {
  /** Configuration key that maps server names to entries. */
  servers: string
  /** Additional members of each entry. */
  more?: Pick<ServerEntry, 'type'>
  /** Path segments of the user's configuration file, below `settings` (the platform's settings folder) or `home`. */
  file(folders: {settings: string; home: string; platform: NodeJS.Platform}): readonly string[]
}

const clients: Readonly<Record<ClientName, Client>> = {
  // https://modelcontextprotocol.io/docs/develop/connect-local-servers
  claude: {servers: 'mcpServers', file: ({settings}) => [settings, 'Claude', 'claude_desktop_config.json']},
  // https://docs.cursor.com/context/mcp
  cursor: {servers: 'mcpServers', file: ({home}) => [home, '.cursor', 'mcp.json']},
  // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
  vscode: {
    servers: 'servers',
    more: {type: 'stdio'},
    file: ({settings}) => [settings, 'Code', 'User', 'mcp.json'],
  },
  // https://zed.dev/docs/ai/mcp and https://zed.dev/docs/configuring-zed
  zed: {
    servers: 'context_servers',
    file({settings, home, platform}) {
      if (platform === 'darwin') return [home, '.config', 'zed', 'settings.json']
      return [settings, platform === 'win32' ? 'Zed' : 'zed', 'settings.json']
    },
  },
}

export function clientFile(client: ClientName, {platform, home, env}: UserFolders): string {
  const {join} = platform === 'win32' ? win32 : posix
  const settings = () => {
    if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming')
    if (platform === 'darwin') return join(home, 'Library', 'Application Support')
    return env.XDG_CONFIG_HOME || join(home, '.config')
  }
  return join(...clients[client].file({settings: settings(), home, platform}))
}

/** Configuration that adds one server to a client. The default is the form that most clients share. */
export function clientConfiguration(
  client: ClientName = 'claude',
  name: string,
  entry: ServerEntry,
): Record<string, Record<string, ServerEntry>> {
  const {servers, more} = clients[client]
  return {[servers]: {[name]: {...more, ...entry}}}
}

/**
 * Merges one server into a client's configuration file. Other settings and comments are preserved, an existing file is
 * backed up before a change, and a symbolic link is followed.
 * @returns path of the backup; undefined if the file did not exist, null if no change was needed
 * @throws mcp_client_file_invalid; file_unwritable, disk_full
 */
export async function mergeIntoClientFile(
  path: string,
  configuration: Record<string, Record<string, ServerEntry>>,
): Promise<string | null | undefined> {
  const target = await targetOf(path)
  const before = await readFile(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  const text = decoded(before, path)
  const merged = await merge(text, configuration, path)
  if (merged === text) return null
  const copy = before === undefined ? undefined : await backUp(target)
  await writeFileAtomic(target, merged)
  return copy
}

/** @throws file_unwritable if the path is a dangling symbolic link */
async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const isLink = await lstat(path).catch(() => undefined)
    if (isLink === undefined) return path
    const reason = 'the file is a symbolic link to a file that does not exist'
    throw new SvcError('file_unwritable', {path, reason}, {cause: error})
  }
}

function decoded(bytes: Buffer | undefined, path: string): string {
  try {
    return new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes)
  } catch (error) {
    throw new SvcError('mcp_client_file_invalid', {path, reason: 'the file is not UTF-8'}, {cause: error})
  }
}

async function backUp(path: string): Promise<string> {
  const copy = `${path}.backup-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`
  try {
    await copyFile(path, copy, constants.COPYFILE_EXCL)
    return copy
  } catch (error) {
    throw writeFault(error, copy)
  }
}

type Members = Readonly<Record<string, unknown>>

/** Sets only the members of one server entry: clients may store settings of their own in the same entry. */
async function merge(text: string, configuration: Record<string, Record<string, ServerEntry>>, path: string) {
  const {applyEdits, modify, parse, printParseErrorCode} = await import('jsonc-parser')
  const refuse = (reason: string) => new SvcError('mcp_client_file_invalid', {path, reason})
  const read = (source: string): Members => {
    const errors: ParseError[] = []
    const value: unknown = parse(source, errors, {allowTrailingComma: true, allowEmptyContent: true})
    const [first] = errors
    if (first !== undefined)
      throw refuse(`${inWords(printParseErrorCode(first.error))} at ${placeOf(source, first.offset)}`)
    return membersOf(value === undefined ? {} : value, () => refuse('the file is not a JSON object'))
  }
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const body = text.slice(mark.length)
  const before = read(body)
  const [[servers, entries]] = Object.entries(configuration) as [[string, Record<string, ServerEntry>]]
  const [[name, entry]] = Object.entries(entries) as [[string, ServerEntry]]
  const others = membersOf(before[servers] ?? {}, () => refuse(`"${servers}" is not an object`))
  const known = Object.hasOwn(others, name) ? membersOf(others[name], () => refuse(`"${name}" is not an object`)) : {}
  const expected = {...before, [servers]: {...others, [name]: {...known, ...entry}}}
  if (isDeepStrictEqual(before, expected)) return text
  let merged = body
  for (const [member, value] of Object.entries(entry))
    merged = applyEdits(merged, modify(merged, [servers, name, member], value, {formattingOptions: styleOf(body)}))
  // If a key is duplicated, the library changes the first one, but JSON parsers use the last one.
  if (!isDeepStrictEqual(read(merged), expected)) throw refuse(`the key "${servers}" or "${name}" is duplicated`)
  return `${mark}${merged}${body.trim() === '' ? '\n' : ''}`
}

function membersOf(value: unknown, refusal: () => SvcError): Members {
  if (isObject(value)) return value as Members
  throw refusal()
}

/** Converts `CommaExpected` to "comma expected". */
const inWords = (code: string) => code.replace(/(?!^)[A-Z]/g, ' $&').toLowerCase()

function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

/** Detects the indentation and line endings of a text. */
function styleOf(text: string) {
  const [, indent = '  '] = /^([ \t]+)\S/m.exec(text) ?? []
  return {insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol: text.includes('\r\n') ? '\r\n' : '\n'}
}
