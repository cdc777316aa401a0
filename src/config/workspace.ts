import {existsSync, realpathSync} from 'node:fs'
import {dirname, join, parse, resolve} from 'node:path'

/** The root folder of a workspace, and its settings file if there is one. */
export interface Workspace {
  root: string
  configPath?: string
}

/** The folder and its ancestors, innermost first. */
export function* ancestors(start: string): Generator<string> {
  const {root} = parse(start)
  for (let folder = start; ; folder = dirname(folder)) {
    yield folder
    if (folder === root) return
  }
}

/**
 * The workspace of a folder: the nearest ancestor that contains `Svc.toml`, else the nearest one that contains `.git`,
 * else the folder itself. It checks for names and reads no file.
 */
export function discoverWorkspace(cwd: string): Workspace {
  const start = existsSync(cwd) ? realpathSync(cwd) : resolve(cwd)
  const ancestorWith = (name: string) => [...ancestors(start)].find((folder) => existsSync(join(folder, name)))
  const configured = ancestorWith('Svc.toml')
  if (configured !== undefined) return {root: configured, configPath: join(configured, 'Svc.toml')}
  return {root: ancestorWith('.git') ?? start}
}
