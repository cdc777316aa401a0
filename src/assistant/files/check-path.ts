import {isUtf8} from 'node:buffer'
import {readdir, readFile, realpath, stat} from 'node:fs/promises'
import {join, relative, resolve, sep} from 'node:path'
import {containedPath} from '../../files/index.js'
import type {Finding} from '../../tasks/index.js'
import {type CheckMode, checkText, isFault} from './check-text.js'

/** The findings in the text files below a path. */
export interface PathCheck {
  /** No finding is an error. */
  ok: boolean
  filesScanned: number
  findings: Finding[]
  /** There are more files or findings than the limits allow. */
  isPartial: boolean
}

/** Folders that contain no workspace sources. */
const skipped = new Set(['node_modules', 'dist', 'build', 'target', 'vendor', 'venv'])
const maxFiles = 5000
const maxFindings = 1000
/** Larger files are not checked, bytes. */
const maxFileBytes = 1 << 20

/**
 * Checks a file, or all text files in a folder of the workspace. Hidden folders, dependencies, build outputs and symbolic
 * links are skipped.
 * @param path relative to the root, or `.` for the whole workspace
 * @throws path_denied, file_not_found; the reason of the signal
 */
export async function checkPath(
  root: string,
  path: string,
  {mode, signal}: {mode: CheckMode; signal: AbortSignal},
): Promise<PathCheck> {
  const realRoot = await realpath(root)
  const real = resolve(root, path) === resolve(root) ? realRoot : await containedPath(root, path)
  const files = (await stat(real)).isDirectory() ? filesBelow(real) : [real]
  const check: PathCheck = {ok: true, filesScanned: 0, findings: [], isPartial: false}
  for await (const file of files) {
    signal.throwIfAborted()
    if (check.filesScanned === maxFiles || check.findings.length >= maxFindings) return {...check, isPartial: true}
    const text = await textOf(file)
    if (text === undefined) continue
    check.filesScanned++
    const name = relative(realRoot, file).split(sep).join('/')
    const findings = await checkText(name, text, mode)
    check.findings.push(...findings)
    check.ok &&= !findings.some(isFault)
  }
  return check
}

async function* filesBelow(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, {withFileTypes: true})
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.isFile()) yield path
    else if (entry.isDirectory() && !entry.name.startsWith('.') && !skipped.has(entry.name)) yield* filesBelow(path)
  }
}

/** Undefined if the file is not text, too large, or gone. */
async function textOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || found.size > maxFileBytes) return undefined
  const content = await readFile(path).catch(() => undefined)
  return content === undefined || !isUtf8(content) || content.includes(0) ? undefined : content.toString('utf8')
}
