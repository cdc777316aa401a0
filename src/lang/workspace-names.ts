import {readdir, readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {declaredNames} from './check/index.js'

/** Folders whose programs are copies or belong to tools. */
const skipped = new Set(['node_modules', 'dist', 'build'])

/** Limits of a search: entries of folders, programs, and bytes of all programs. */
const max = {entries: 5000, files: 64, bytes: 1 << 20}

/**
 * The names that the programs of a workspace declare, without duplicates. The search is bounded.
 * @param onUnreadable called with what cannot be read and is left out
 */
export async function workspaceNames(
  root: string,
  onUnreadable: (path: string, error: unknown) => void,
): Promise<string[]> {
  const names = new Set<string>()
  let bytes = 0
  for (const file of await programsBelow(root, onUnreadable))
    try {
      bytes += (await stat(file)).size
      if (bytes > max.bytes) break
      for (const name of declaredNames(await readFile(file, 'utf8'))) names.add(name)
    } catch (error) {
      onUnreadable(file, error)
    }
  return [...names]
}

/** Paths of the programs, those of outer folders first. */
async function programsBelow(root: string, onUnreadable: (path: string, error: unknown) => void): Promise<string[]> {
  const folders = [root]
  const files: string[] = []
  let entries = 0
  for (const folder of folders)
    try {
      for (const entry of await readdir(folder, {withFileTypes: true})) {
        if (++entries > max.entries || files.length === max.files) return files
        const {name} = entry
        if (entry.isDirectory() && !name.startsWith('.') && !skipped.has(name)) folders.push(join(folder, name))
        else if (entry.isFile() && name.endsWith('.svc')) files.push(join(folder, name))
      }
    } catch (error) {
      onUnreadable(folder, error)
    }
  return files
}
