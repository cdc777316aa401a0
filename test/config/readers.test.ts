import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import * as config from '../../src/config/index.js'
import {projectFile} from '../support/project.js'
import {codeOf, readsProperty} from '../support/setting-reads.js'

const {defaultAgentCapabilitySettings, orchestratorTables, settingTables} = config

/** Sources that only declare, pass on or print settings. */
const notReaders = ['src/config/', 'src/workspace/config.ts', 'src/contracts/']

/** Modules that read the configuration assembled in `src/workspace/config.ts`. */
const configReaders = /^src\/(workspace|tasks|messages|sessions|journeys|plans|scheduler|orchestrator)\//

const sources = ['src', 'commands']
  .flatMap((folder) =>
    readdirSync(projectFile(folder), {recursive: true, encoding: 'utf8'}).map(
      (file) => `${folder}/${file.replaceAll('\\', '/')}`,
    ),
  )
  .filter((path) => path.endsWith('.ts') && !notReaders.some((other) => path.startsWith(other)))
  .map((path) => ({path, code: codeOf(readFileSync(projectFile(path), 'utf8'))}))

/** Settings that are read from an object into which all values of their table were copied, and the file that reads them. */
const copied: Readonly<Record<string, string>> = {
  'log.format': 'src/log/logger.ts',
  'engine.temperature': 'src/sampling/sampler.ts',
  'serve.origins': 'src/serve/server.ts',
  'serve.allowedHosts': 'src/serve/server.ts',
  'mesh.workerResultVerifyKey': 'src/mesh/control-plane/auth/credentials.ts',
}

/**
 * Sources that have access to the values of a table: they name the table, or they belong to the orchestrator, which
 * assembles its tables in one configuration. In other sources, a property of the same name is unrelated.
 */
function sourcesWith(table: config.SettingTable) {
  const [exportName] = Object.entries(config).find(([, exported]) => exported === table) ?? []
  const named = new RegExp(`\\b${exportName}\\b`)
  const isOfOrchestrator = orchestratorTables.includes(table)
  return sources.filter(
    ({path, code}) => named.test(code) || (isOfOrchestrator && (configReaders.test(path) || /\bconfig\b/.test(code))),
  )
}

/** Names of the settings of a table that no source reads. */
function unreadOf(table: config.SettingTable): string[] {
  // Capabilities are compared by a list of names, so all of them are read.
  if (table === defaultAgentCapabilitySettings) return []
  const having = sourcesWith(table)
  return Object.keys(table.rows).filter((key) => {
    const elsewhere = sources.filter(({path}) => path === copied[`${table.name}.${key}`])
    return ![...having, ...elsewhere].some(({code}) => readsProperty(code, key))
  })
}

describe('every setting', () => {
  it('is read by a source', () => {
    assert.deepEqual(
      settingTables.flatMap((table) => unreadOf(table).map((key) => `${table.name}.${key}`)),
      [],
    )
  })

  it('counts as read if its property is read, not if it is mentioned', () => {
    const reads = (source: string) => readsProperty(codeOf(source), 'lockTimeoutMs')
    for (const source of [
      'const last = config.lockTimeoutMs',
      'const {enabled, lockTimeoutMs} = config',
      'const {lockTimeoutMs: limit} = config',
      'function open({config: {lockTimeoutMs}}: Context) {}',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a program
      'const text = `${config.lockTimeoutMs} ms`',
    ])
      assert.equal(reads(source), true, source)
    for (const source of [
      'const defaults = {lockTimeoutMs: 3}',
      "const names = ['lockTimeoutMs']",
      '// config.lockTimeoutMs',
      'const text = `config.lockTimeoutMs`',
      'const last = config.lockTimeoutMsOfAll',
    ])
      assert.equal(reads(source), false, source)
  })
})
