import {readdir, readFile} from 'node:fs/promises'
import {join, relative} from 'node:path'
import type {Leak} from './history.js'

/**
 * Searches all files below a folder for secrets.
 * @param secrets values by name; only names are reported
 * @param home files that may contain secrets
 * @param texts further texts by name, such as the tables of a database
 */
export async function scanForSecrets(
  folder: string,
  secrets: ReadonlyMap<string, string>,
  home: readonly string[],
  texts: ReadonlyMap<string, string> = new Map(),
): Promise<{files: number; leaks: Leak[]}> {
  const entries = await readdir(folder, {recursive: true, withFileTypes: true})
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !home.includes(path))
  const leaks: Leak[] = []
  for (const path of files) {
    const bytes = await readFile(path)
    for (const [secret, text] of secrets) if (bytes.includes(text)) leaks.push({file: relative(folder, path), secret})
  }
  for (const [file, content] of texts)
    for (const [secret, text] of secrets) if (content.includes(text)) leaks.push({file, secret})
  return {files: files.length, leaks}
}
