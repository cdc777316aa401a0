import {existsSync, realpathSync} from 'node:fs'
import {dirname, join, parse, resolve} from 'node:path'

/** The folder that commands work in, and its settings file where there is one. */
export interface Workspace {
  root: string
  configPath?: string
}

/** This folder and its ancestors, innermost first. */
export function* ancestors(start: string): Generator<string> {
  const {root} = parse(start)
  for (let folder = start; ; folder = dirname(folder)) {
    yield folder
    if (folder === root) return
  }
}

/**
 * The workspace of a folder: the nearest ancestor that holds `Svc.toml`, else the nearest one that holds `.git`, else
 * the folder itself. Reads names only, never a file.
 */
export function discoverWorkspace(cwd: string): Workspace {
  const start = existsSync(cwd) ? realpathSync(cwd) : resolve(cwd)
  const holds = (name: string) => [...ancestors(start)].find((folder) => existsSync(join(folder, name)))
  const configured = holds('Svc.toml')
  if (configured !== undefined) return {root: configured, configPath: join(configured, 'Svc.toml')}
  return {root: holds('.git') ?? start}
}
