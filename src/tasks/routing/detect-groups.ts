import {readdir, readFile, stat} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {isObject} from '../../contracts/index.js'
import {type AffinityGroup, catchAllGroup, matchesGlob} from '../../workspace/index.js'

/** Folders that contain no workspace sources. */
const skipped = ['node_modules', 'dist', 'build', 'target', 'vendor', 'venv']
/** Maximum folder depth at which a pattern with `**` is matched. */
const deepest = 5
const projectFiles = ['pyproject.toml', 'setup.py', 'go.mod']

/**
 * Detects the groups of a workspace that configures none. There is one per npm workspace, `node-<package>`, and one per
 * Python or Go project folder directly below the root, `<folder>-group`. If there are none, there is a single group for
 * everything. Files that are unreadable or not JSON are ignored.
 */
export async function detectGroups(root: string): Promise<AffinityGroup[]> {
  const packages = await npmPackages(root)
  const taken = new Set(packages.map(({folder}) => folder))
  const projects = (await projectFolders(root)).filter((folder) => !taken.has(folder))
  const groups = [
    ...packages.map(({folder, name}) => ({name: `node-${name}`, patterns: [`${folder}/**`]})),
    ...projects.map((folder) => ({name: `${folder}-group`, patterns: [`${folder}/**`]})),
  ]
  return groups.length > 0 ? groups : [{name: catchAllGroup, patterns: ['**/*']}]
}

/** Nested packages come first, since the first matching group applies. */
async function npmPackages(root: string): Promise<{folder: string; name: string}[]> {
  const patterns = workspacePatterns(await readJson(join(root, 'package.json')))
  if (patterns.length === 0) return []
  const included = patterns.filter((pattern) => !pattern.startsWith('!'))
  const unwanted = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1))
  const depth = Math.max(...included.map(depthOf), 0)
  const matching = (await foldersBelow(root, depth)).filter(
    (folder) =>
      included.some((pattern) => matchesGlob(folder, pattern)) && !unwanted.some((one) => matchesGlob(folder, one)),
  )
  const packages = await Promise.all(
    matching.map(async (folder) => {
      const manifest = await readJson(join(root, folder, 'package.json'))
      return manifest === undefined ? [] : [{folder, name: packageName(manifest) ?? basename(folder)}]
    }),
  )
  const depthFirst = (folder: string) => -folder.split('/').length
  return packages.flat().sort((a, b) => depthFirst(a.folder) - depthFirst(b.folder) || (a.folder < b.folder ? -1 : 1))
}

const depthOf = (pattern: string) => (pattern.includes('**') ? deepest : pattern.split('/').filter(Boolean).length)

/** Accepts an array, or an object with an array under `packages`. Slashes at either end are ignored. */
function workspacePatterns(manifest: Record<string, unknown> | undefined): string[] {
  const declared = manifest?.workspaces
  const list = isObject(declared) ? declared.packages : declared
  if (!Array.isArray(list)) return []
  return list.filter((pattern) => typeof pattern === 'string').map((pattern) => pattern.replace(/\/$/, ''))
}

/** Without the scope: `@acme/web` is `web`. */
function packageName({name}: Record<string, unknown>): string | undefined {
  return typeof name === 'string' && name !== '' ? name.slice(name.lastIndexOf('/') + 1) : undefined
}

async function projectFolders(root: string): Promise<string[]> {
  const folders = await foldersBelow(root, 1)
  const found = await Promise.all(
    folders.map(async (folder) => {
      const files = await Promise.all(projectFiles.map((file) => isFile(join(root, folder, file))))
      return files.includes(true) ? [folder] : []
    }),
  )
  return found.flat().sort()
}

/** Relative paths with `/`. Symbolic links are not followed: they may form a cycle. */
async function foldersBelow(root: string, depth: number, below = ''): Promise<string[]> {
  if (depth === 0) return []
  const entries = await readdir(join(root, below), {withFileTypes: true}).catch(() => [])
  const folders = entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !skipped.includes(entry.name))
    .map(({name}) => (below === '' ? name : `${below}/${name}`))
  const deeper = await Promise.all(folders.map((folder) => foldersBelow(root, depth - 1, folder)))
  return [...folders, ...deeper.flat()]
}

const isFile = (path: string) =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  )

async function readJson(path: string): Promise<Record<string, unknown> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
