/**
 * Installs the dependencies of a clone and builds it. Install scripts of packages are disabled. The only package that
 * needs its script is the SQLite driver for Node 20, which is compiled here on that version only.
 *
 * Arguments are scripts of the project that do not need the driver: they run while it is compiled.
 */
import {execFile, spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {delimiter, join, resolve} from 'node:path'
import {fileURLToPath} from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const npmProgram = process.env.npm_execpath
if (npmProgram === undefined) fail('Run this script as: npm run setup')

const isNode20 = Number.parseInt(process.versions.node, 10) < 22
let compiled
if (isNode20) checkCompiler()
await npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
// The driver is compiled on one processor, and the build does not need it.
compiled = isNode20 ? compileDriver() : undefined
for (const script of ['build', ...process.argv.slice(2)]) await npm(['run', script])
if (compiled?.exitCode === null) process.stdout.write('Waiting for the SQLite driver.\n')

async function npm(args) {
  const child = spawn(process.execPath, [npmProgram, ...args], {cwd: root, stdio: 'inherit'})
  const [status] = await once(child, 'exit')
  if (status === 0) return
  compiled?.kill()
  process.exit(status ?? 1)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

/** Says before anything is installed what will be compiled, and ends if a program for it is missing. */
function checkCompiler() {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const isThere = (name) => folders.some((folder) => existsSync(join(folder, name)))
  const needed = {'a C++ compiler': ['c++', 'g++', 'clang++'], make: ['make'], 'Python 3': ['python3', 'python']}
  const missing = Object.keys(needed).filter((name) => !needed[name].some(isThere))
  const {version} = process
  if (process.platform !== 'win32' && missing.length > 0)
    fail(
      `Node.js ${version} needs ${missing.join(' and ')} to compile the SQLite driver, because current releases of the driver
are only compiled for Node.js 22 and newer. Use Node.js 22, which needs nothing else, or install what is missing
(Debian: apt-get install g++ make python3). Nothing was installed.`,
    )
  process.stdout.write(
    `Node.js ${version}: the SQLite driver will be compiled, which takes about a minute, because current releases of the
driver are only compiled for Node.js 22 and newer.\n`,
  )
}

/** Starts the compilation of the driver. Its output, mostly warnings, is shown if it fails. */
function compileDriver() {
  process.stdout.write('Compiling the SQLite driver.\n')
  // If Node's headers are installed next to it, node-gyp does not have to download them.
  const nodeFolder = resolve(process.execPath, '../..')
  const headers = existsSync(join(nodeFolder, 'include/node/node.h')) ? {npm_config_nodedir: nodeFolder} : {}
  const options = {
    cwd: join(root, 'node_modules/better-sqlite3-v12'),
    env: {...process.env, ...headers},
    maxBuffer: 1 << 28,
  }
  return execFile(process.execPath, [npmProgram, 'run', 'install'], options, (error, stdout, stderr) => {
    if (error === null) return
    process.stderr.write(stdout + stderr)
    fail('The SQLite driver could not be compiled; the lines above say why. Node.js 22 needs no compiler.')
  })
}
