/**
 * Builds `dist/` and the command manifest. Builds into a new folder, which then replaces the old one: a failed build
 * changes nothing, and commands that run during the build still find their files.
 */
import {spawnSync} from 'node:child_process'
import {existsSync, renameSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const next = join(root, `dist.next-${process.pid}`)
const dist = join(root, 'dist')

if (!existsSync(join(root, 'node_modules/typescript'))) {
  process.stderr.write('The dependencies are not installed. Run: npm run setup\n')
  process.exit(1)
}
// Imports a dependency.
const {bundle, bundlePages} = await import('./bundle.js')

/** Runs a Node program. On failure, exits with its status; it has already printed the error. */
function run(...args) {
  const {status} = spawnSync(process.execPath, args, {cwd: root, stdio: 'inherit'})
  if (status === 0) return
  rmSync(next, {recursive: true, force: true})
  process.exit(status ?? 1)
}

try {
  run(join(root, 'node_modules/typescript/bin/tsc'), '--outDir', next)
  await bundlePages(join(root, 'src'), next)
  await bundle(next)
  // A folder cannot be renamed over an existing one, so the old one is moved away first.
  const old = `${next}.old`
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(next, dist)
  rmSync(old, {recursive: true, force: true})
} finally {
  rmSync(next, {recursive: true, force: true})
}
run(join(dist, 'src/cli/declarations.js'))
