/**
 * Installs the dependencies of a clone and builds it. Install scripts of packages are disabled. The only package that
 * needs its script is the SQLite driver for Node 20, which is compiled here on that version only.
 */
import {execFileSync} from 'node:child_process'
import {existsSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {fileURLToPath} from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const npmProgram = process.env.npm_execpath
if (npmProgram === undefined) throw new Error('Run this script as: npm run setup')

const npm = (args, cwd = root, env = process.env) =>
  execFileSync(process.execPath, [npmProgram, ...args], {cwd, env, stdio: 'inherit'})

/** If Node's headers are installed next to it, node-gyp does not have to download them. */
const nodeFolder = resolve(process.execPath, '../..')
const headers = existsSync(join(nodeFolder, 'include/node/node.h')) ? {npm_config_nodedir: nodeFolder} : {}

npm(['ci', '--ignore-scripts'])
if (Number.parseInt(process.versions.node, 10) < 22)
  npm(['run', 'install'], join(root, 'node_modules/better-sqlite3-v12'), {...process.env, ...headers})
npm(['run', 'build'])
