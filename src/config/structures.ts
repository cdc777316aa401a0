import {isAbsolute} from 'node:path'
import {isTable, isTextArray} from './toml.js'
import {list, type SettingType} from './types.js'

/** Composite types, which only a file can contain: variables are not parsed into structures. */
const fileOnly = {parse: () => undefined}

/** A program and its arguments, unchanged. */
export const argv = (): SettingType<readonly string[]> => ({
  ...fileOnly,
  expected: 'a list with a program and its arguments',
  accept: (value) =>
    isTextArray(value) && value[0]?.trim() && !value.some((item) => item.includes('\0')) ? value : undefined,
})

/** A table with arbitrary keys and values of one type. */
export const tableOf = <T>(entries: SettingType<T>): SettingType<Readonly<Record<string, T>>> => ({
  ...fileOnly,
  expected: `a table in which each value is ${entries.expected}`,
  entries,
  accept(value) {
    if (!isTable(value)) return undefined
    const read = Object.entries(value).map(([name, entry]) => [name, entries.accept(entry)] as const)
    const complete = read.every((entry): entry is [string, T] => entry[1] !== undefined)
    return complete ? Object.fromEntries(read) : undefined
  },
})

/** An array of tables. @param read returns undefined for a table that is not accepted */
const tables = <T>(expected: string, read: (value: unknown) => T | undefined): SettingType<readonly T[]> => ({
  ...fileOnly,
  expected,
  accept(value) {
    if (!Array.isArray(value)) return undefined
    const items = value.flatMap((item) => read(item) ?? [])
    return items.length === value.length ? items : undefined
  },
})

/** Files that belong together: those that match a glob pattern of the group. */
export interface FileGroup {
  name: string
  patterns: readonly string[]
  /** Agent that work on these files is given to first; default: the agent with the name of the group. */
  defaultAgent?: string
}

/** An array of tables with `name`, `patterns` and perhaps `default_agent`; a single pattern may be a string. */
export const fileGroups = () => tables('a list of tables, each with a name and patterns', fileGroup)

function fileGroup(value: unknown): FileGroup | undefined {
  if (!isTable(value) || typeof value.name !== 'string') return undefined
  const name = value.name.trim()
  const patterns = list().accept(typeof value.patterns === 'string' ? [value.patterns] : value.patterns) ?? []
  if (name === '' || patterns.length === 0) return undefined
  const {default_agent: agent} = value
  if (agent === undefined) return {name, patterns}
  return typeof agent === 'string' && agent.trim() !== '' ? {name, patterns, defaultAgent: agent.trim()} : undefined
}

/** A check that workers do not know: a command, programs to run, or a command with the files that it reads. */
export interface HiddenCheck {
  /** Undefined: the files are programs, which run one after another. */
  command: readonly string[] | undefined
  /** Absolute paths of files and folders. */
  files: readonly string[]
  /** Absolute path of the workspace that is checked; undefined: every workspace of the user. */
  workspace: string | undefined
}

/** An array of tables with `command`, `files` or both, and perhaps `workspace`. */
export const hiddenChecks = () =>
  tables('a list of tables, each with a command, files or both; paths are absolute', hiddenCheck)

function hiddenCheck(value: unknown): HiddenCheck | undefined {
  if (!isTable(value)) return undefined
  const {command: given, files = [], workspace, ...others} = value
  const command = given === undefined ? undefined : argv().accept(given)
  const paths = [files, workspace ?? []].flat()
  if (Object.keys(others).length > 0 || (given !== undefined && command === undefined)) return undefined
  if (!isTextArray(files) || !isTextArray(paths) || !paths.every((path) => isAbsolute(path))) return undefined
  return command === undefined && files.length === 0
    ? undefined
    : {command, files, workspace: workspace as string | undefined}
}
