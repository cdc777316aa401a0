import assert from 'node:assert/strict'
import {it} from 'node:test'
import {packagesLoadedBy} from '../support/loads.js'
import {svc} from '../support/svc.js'
import {temporaryFolder} from '../support/temporary.js'

const heavy = [
  'onnxruntime-node',
  'fastify',
  'better-sqlite3',
  'pg',
  'pino',
  'undici',
  'ajv',
  'yaml',
  'listr2',
  'execa',
  'ws',
  '@huggingface/tokenizers',
]

/**
 * Checks that commands load no heavy packages, except for those that they need.
 * @param cwd their working directory, which the titles of the tests do not mention
 */
export function testLoadedPackages(cwd: string, cases: readonly (readonly [args: string[], needed: string[]])[]): void {
  for (const [args, needed] of cases)
    it(`svc ${args.filter((arg) => !arg.startsWith(cwd)).join(' ')}: ${needed.join(', ') || 'nothing heavy'}`, async (test) => {
      const loaded = await packagesLoadedBy(await temporaryFolder(test), async (env) => {
        const {exitCode} = await svc(args, {cwd, env})
        assert.equal(exitCode, 0)
      })
      assert.equal(loaded.has('@oclif/core'), args[0] !== '--version')
      assert.deepEqual(heavy.filter((name) => loaded.has(name)).sort(), [...needed].sort())
    })
}
