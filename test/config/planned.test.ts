import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import * as config from '../../src/config/index.js'
import {projectFile} from '../support/project.js'
import {codeOf, readsProperty} from '../support/setting-reads.js'

const {
  defaultAgentCapabilitySettings,
  describeSettings,
  orchestratorTables,
  resolveSettings,
  settings,
  settingTables,
  types,
} = config

/** Sources that only declare, pass on or print settings. */
const notReaders = ['src/config/', 'src/tasks/base/config.ts', 'src/contracts/']

/** Modules that read the configuration assembled in `src/tasks/base/config.ts`. */
const configReaders = /^src\/(tasks|messages|sessions|journeys|plans|scheduler|orchestrator)\//

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
  'serve.origins': 'src/serve/access.ts',
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

describe('planned settings', () => {
  const all = settingTables.flatMap((table) =>
    Object.entries(table.rows).map(([key, setting]) => ({name: `${table.name}.${key}`, setting})),
  )

  it('are exactly the settings that no source reads', () => {
    const unread = settingTables.flatMap((table) => unreadOf(table).map((key) => `${table.name}.${key}`))
    const planned = all.filter(({setting}) => setting.planned).map(({name}) => name)
    assert.deepEqual(planned, unread)
    assert.ok(planned.length > 0)
  })

  it('are detected by property reads, not by mentions', () => {
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

  it('have no flag', () => {
    for (const {name, setting} of all) assert.ok(!setting.planned || setting.flag === undefined, name)
  })

  const table = settings('soon', () => ({
    gate: {
      type: types.boolean('lenient'),
      env: ['SVC_GATE'],
      toml: ['soon.gate'],
      planned: true,
      default: true,
      doc: '',
    },
  }))

  it('do not warn about an empty variable that clears the file', () => {
    const row = {type: types.text(), env: ['SVC_A'], clears: ['SVC_A'], planned: true as const, doc: ''}
    assert.deepEqual(
      resolveSettings(
        settings('soon', () => ({a: row})),
        {env: {SVC_A: ''}},
      ).warnings,
      [],
    )
  })

  it('warn once if they are set, and are marked as planned', () => {
    assert.deepEqual(resolveSettings(table, {env: {}}).warnings, [])
    const expected = (subject: string) => [
      {code: 'config_planned', subject, message: `${subject} is not supported yet and is ignored.`},
    ]
    assert.deepEqual(resolveSettings(table, {env: {SVC_GATE: '0'}}).warnings, expected('SVC_GATE'))
    const file = {path: 'Svc.toml', data: {soon: {gate: false}}, warnings: []}
    const {settings: described, warnings} = describeSettings({env: {}, file}, [table])
    assert.deepEqual(warnings, expected('soon.gate'))
    assert.equal(described[0]?.planned, true)
  })
})

describe('a strict setting', () => {
  const table = settings('example', () => ({
    kind: {type: types.choice('a', 'b'), env: ['SVC_KIND'], strict: true, default: 'a', doc: ''},
  }))

  it('rejects an invalid variable', () => {
    assert.equal(resolveSettings(table, {env: {SVC_KIND: 'B'}}).values.kind, 'b')
    assert.throws(() => resolveSettings(table, {env: {SVC_KIND: 'q4'}}), {
      code: 'config_variable',
      message: 'SVC_KIND must be one of a, b, not "q4".',
    })
  })

  it('is used for the precision, backend and task of speech', () => {
    const speech = settingTables.find(({name, rows}) => name === 'speech' && 'precision' in rows)
    assert.ok(speech)
    for (const variable of ['SVC_SPEECH_DTYPE', 'SVC_SPEECH_BACKEND', 'SVC_SPEECH_TASK'])
      assert.throws(() => resolveSettings(speech, {env: {[variable]: 'q4'}}), {code: 'config_variable'})
  })
})
