/**
 * Builds `dist/` and the command manifest. Builds into a new folder, which then replaces the old one: a failed build
 * changes nothing, and commands that run during the build still find their files. What has not changed since the last
 * build is linked from it. With `--if-missing`, it does nothing if there is a build: npm prepares a package that is linked or
 * installed, which `npm run setup` has already built.
 */
import {spawnSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {writeContractTypes} from './contract-types.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const next = join(root, `dist.next-${process.pid}`)
const dist = join(root, 'dist')
/** What the compiler knows about the last build. Its paths are relative, so it is valid in a copied folder. */
const compilerState = 'compiled.tsbuildinfo'
/** Digest of everything that the bundle is made from. */
const bundleDigest = 'bundle.sha256'

if (process.argv.includes('--if-missing') && existsSync(join(dist, bundleDigest))) process.exit(0)

if (!existsSync(join(root, 'node_modules/typescript'))) {
  process.stderr.write('The dependencies are not installed. Run: npm run setup\n')
  process.exit(1)
}
// Imports a dependency.
const {bundle, bundlePages, copyAssets} = await import('./bundle.js')

/** Runs a Node program. On failure, exits with its status; it has already printed the error. */
function run(...args) {
  const {status} = spawnSync(process.execPath, args, {cwd: root, stdio: 'inherit'})
  if (status === 0) return
  rmSync(next, {recursive: true, force: true})
  process.exit(status ?? 1)
}

/** Compiles the modules that have changed, and links the output of the others. */
function compile() {
  mkdirSync(next)
  const state = join(dist, compilerState)
  if (existsSync(state)) copyFileSync(state, join(next, compilerState))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  run(tsc, '--outDir', next, '--incremental', '--tsBuildInfoFile', join(next, compilerState), '--noEmitOnError')
  for (const part of ['src', 'commands', 'test'])
    for (const file of readdirSync(join(root, part), {recursive: true, encoding: 'utf8'}))
      if (/(?<!\.d)\.ts$/.test(file))
        for (const suffix of ['.js', '.js.map', '.d.ts']) link(join(part, file.replace(/\.ts$/, suffix)))
}

/** Links a file of the last build, unless this build has written it. */
function link(file) {
  if (existsSync(join(next, file)) || !existsSync(join(dist, file))) return
  mkdirSync(dirname(join(next, file)), {recursive: true})
  linkSync(join(dist, file), join(next, file))
}

/** Digest of the modules of the executable, its packages, and the program that bundles them. */
function digest() {
  const hash = createHash('sha256')
  const parts = [join(next, 'src'), join(next, 'commands')]
  const modules = parts.flatMap((part) =>
    readdirSync(part, {recursive: true, encoding: 'utf8'})
      .filter((file) => file.endsWith('.js'))
      .sort()
      .map((file) => join(part, file)),
  )
  for (const file of [
    ...modules,
    join(root, 'package-lock.json'),
    join(root, 'package.json'),
    join(root, 'scripts/bundle.js'),
  ])
    hash.update(`${file.replace(next, '')}\0`).update(readFileSync(file))
  return hash.digest('hex')
}

/** @returns whether the bundle of the last build is that of this one, too */
async function bundleExecutable() {
  const now = digest()
  const before = join(dist, bundleDigest)
  const isSame = existsSync(before) && readFileSync(before, 'utf8') === now
  if (isSame) cpSync(join(dist, 'bundle'), join(next, 'bundle'), {recursive: true})
  else await bundle(next)
  writeFileSync(join(next, bundleDigest), now)
  return isSame
}

let isSame
try {
  await writeContractTypes(root)
  compile()
  await bundlePages(join(root, 'src'), next)
  copyAssets(join(root, 'src'), next)
  isSame = await bundleExecutable()
  // A folder cannot be renamed over an existing one, so the old one is moved away first.
  const old = `${next}.old`
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(next, dist)
  rmSync(old, {recursive: true, force: true})
} finally {
  rmSync(next, {recursive: true, force: true})
}
if (!isSame || !existsSync(join(root, 'oclif.manifest.json'))) run(join(dist, 'src/cli/declarations.js'))
run(join(dist, 'src/help/write-index.js'))
