/**
 * Installs the dependencies of a clone and builds. No package runs a script of its own: the only one that would need to
 * is the SQLite driver for Node 20, which is compiled here and on no other version.
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

/** Headers that lie beside Node itself need no download. */
const nodeFolder = resolve(process.execPath, '../..')
const headers = existsSync(join(nodeFolder, 'include/node/node.h')) ? {npm_config_nodedir: nodeFolder} : {}

npm(['ci', '--ignore-scripts'])
if (Number.parseInt(process.versions.node, 10) < 22)
  npm(['run', 'install'], join(root, 'node_modules/better-sqlite3-v12'), {...process.env, ...headers})
npm(['run', 'build'])
