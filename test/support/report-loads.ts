/**
 * Preloaded into a process under test: when a thread of it ends, writes the CommonJS packages that the thread has
 * loaded to the file that `SVC_TEST_LOADS` names. Every heavy dependency is one.
 */
import {appendFileSync} from 'node:fs'
import {createRequire} from 'node:module'

const file = process.env.SVC_TEST_LOADS
if (file === undefined) throw new Error('SVC_TEST_LOADS names no file.')

process.on('exit', () => {
  const loaded = Object.keys(createRequire(import.meta.url).cache).map(
    (path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1],
  )
  const packages = [...new Set(loaded.filter((name) => name !== undefined))]
  appendFileSync(file, packages.map((name) => `${name}\n`).join(''))
})
