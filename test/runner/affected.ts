/** Finds the tests that a change touches. */
import {execFileSync, spawnSync} from 'node:child_process'
import {existsSync, readFileSync} from 'node:fs'
import {join, posix} from 'node:path'
import {importsOf} from '../support/imports.js'

/**
 * Files that differ from the merge base with the main branch, also uncommitted and untracked ones, relative to the root
 * of the project.
 */
export function changedFiles(root: string): string[] {
  const git = (...args: string[]) => execFileSync('git', args, {cwd: root, encoding: 'utf8'})
  const main = ['origin/main', 'main'].find(
    (branch) => spawnSync('git', ['rev-parse', '--verify', '--quiet', branch], {cwd: root}).status === 0,
  )
  const base = main === undefined ? 'HEAD' : git('merge-base', main, 'HEAD').trim()
  const lists = [
    git('diff', '-z', '--name-only', '--no-renames', base),
    git('ls-files', '-z', '--others', '--exclude-standard'),
  ]
  return [...new Set(lists.flatMap((list) => list.split('\0')))].filter((path) => path !== '')
}

/** The executable. A test that starts it depends on all parts of the program. */
const executable = 'bin/svc.js'
const programParts = /^(src|commands|bin|contracts)\//
/** Files that affect every test. */
const buildInputs = /^(package-lock\.json|tsconfig\.json|scripts\/(build|bundle)\.js)$/

/**
 * The tests that changed files touch, with their distance. It is 0 if the test itself has changed, 1 if it imports a
 * changed module or names a changed file, and so on. It is infinite if the test starts the program, of which a part has
 * changed.
 * @param tests paths of tests, relative to the root
 */
export function affectedTests(
  tests: readonly string[],
  changed: readonly string[],
  root: string,
): ReadonlyMap<string, number> {
  const touched = new Set(changed.flatMap(withFolders))
  const changesBuild = changed.some((path) => buildInputs.test(path))
  const changesProgram = changed.some((path) => programParts.test(path))
  const known = new Map<string, readonly string[]>()
  const dependencies = (path: string): readonly string[] => {
    const found = known.get(path) ?? dependenciesOf(path, root)
    known.set(path, found)
    return found
  }
  const distanceTo = (test: string): number | undefined => {
    const seen = new Set([test])
    for (let level = [test], distance = 0; level.length > 0; distance++) {
      if (level.some((path) => touched.has(path))) return distance
      level = [...new Set(level.flatMap(dependencies))].filter((path) => !seen.has(path))
      for (const path of level) seen.add(path)
    }
    return changesBuild || (changesProgram && seen.has(executable)) ? Number.POSITIVE_INFINITY : undefined
  }
  const distances = tests.map((test) => [test, distanceTo(test)] as const)
  return new Map(distances.flatMap(([test, distance]) => (distance === undefined ? [] : [[test, distance]])))
}

/** A path and the folders that contain it. */
const withFolders = (path: string): string[] => {
  const names = path.split('/')
  return names.map((_, i) => names.slice(0, i + 1).join('/'))
}

/** The modules that a module imports, and the files and folders that it names with `projectFile('…')`. */
function dependenciesOf(path: string, root: string): string[] {
  const file = join(root, path)
  if (!path.endsWith('.ts') || !existsSync(file)) return []
  const source = readFileSync(file, 'utf8')
  const imported = importsOf(source)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => sourceOf(posix.join(posix.dirname(path), specifier)))
  const named = [...source.matchAll(/projectFile\('([^']+)'\)/g)].map(([, name = '']) =>
    name.startsWith('dist/') ? sourceOf(name.slice('dist/'.length)) : name,
  )
  return [...imported, ...named]
}

const sourceOf = (path: string) => path.replace(/\.js$/, '.ts')
