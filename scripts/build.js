/**
 * Builds `dist/` and the command manifest. A new folder is filled first and then takes the place of the old one, so a
 * build that fails changes nothing, and a command that runs meanwhile finds its files.
 */
import {spawnSync} from 'node:child_process'
import {existsSync, renameSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {bundle, bundlePages} from './bundle.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const next = join(root, `dist.next-${process.pid}`)
const dist = join(root, 'dist')

/** Runs a program of Node; when it fails, it has said why. */
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
  // A folder cannot be renamed over one that is there: the old one goes aside first.
  const old = `${next}.old`
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(next, dist)
  rmSync(old, {recursive: true, force: true})
} finally {
  rmSync(next, {recursive: true, force: true})
}
run(join(dist, 'src/cli/declarations.js'))
