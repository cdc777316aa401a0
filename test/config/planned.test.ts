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

/** Sources that only declare settings, hand them on, or show them. */
const notReaders = ['src/config/', 'src/tasks/base/config.ts', 'src/contracts/']

/** The modules that read the configuration which `src/tasks/base/config.ts` puts together. */
const configReaders = /^src\/(tasks|messages|sessions|journeys|plans|scheduler|orchestrator)\//

const sources = ['src', 'commands']
  .flatMap((folder) =>
    readdirSync(projectFile(folder), {recursive: true, encoding: 'utf8'}).map(
      (file) => `${folder}/${file.replaceAll('\\', '/')}`,
    ),
  )
  .filter((path) => path.endsWith('.ts') && !notReaders.some((other) => path.startsWith(other)))
  .map((path) => ({path, code: codeOf(readFileSync(projectFile(path), 'utf8'))}))

/** Where values are read as members of another object, which all values of their table were copied into. */
const copied: Readonly<Record<string, string>> = {
  'log.format': 'src/log/logger.ts',
  'engine.temperature': 'src/sampling/sampler.ts',
  'serve.origins': 'src/serve/access.ts',
  'serve.allowedHosts': 'src/serve/server.ts',
  'mesh.workerResultVerifyKey': 'src/mesh/control-plane/auth/credentials.ts',
}

/**
 * The sources that have the values of a table: they name the table, or belong to the orchestrator, which puts those of its
 * tables in one configuration. Anywhere else, a property of the same name is another one.
 */
function sourcesWith(table: config.SettingTable) {
  const [exportName] = Object.entries(config).find(([, exported]) => exported === table) ?? []
  const named = new RegExp(`\\b${exportName}\\b`)
  const isOfOrchestrator = orchestratorTables.includes(table)
  return sources.filter(
    ({path, code}) => named.test(code) || (isOfOrchestrator && (configReaders.test(path) || /\bconfig\b/.test(code))),
  )
}

/** Names of the settings of a table whose value nothing reads. */
function unreadOf(table: config.SettingTable): string[] {
  // Capabilities are compared from a list of their names: all of them are read.
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

  it('are those whose value nothing reads', () => {
    const unread = settingTables.flatMap((table) => unreadOf(table).map((key) => `${table.name}.${key}`))
    const planned = all.filter(({setting}) => setting.planned).map(({name}) => name)
    assert.deepEqual(planned, unread)
    assert.ok(planned.length > 0)
  })

  it('are found by what reads them, not by what only names them', () => {
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

  it('do not warn of an empty variable that clears the file', () => {
    const row = {type: types.text(), env: ['SVC_A'], clears: ['SVC_A'], planned: true as const, doc: ''}
    assert.deepEqual(
      resolveSettings(
        settings('soon', () => ({a: row})),
        {env: {SVC_A: ''}},
      ).warnings,
      [],
    )
  })

  it('warn once when they are set, and are shown as planned', () => {
    assert.deepEqual(resolveSettings(table, {env: {}}).warnings, [])
    const expected = (subject: string) => [
      {code: 'config_planned', subject, message: `${subject} is planned: this version ignores it.`},
    ]
    assert.deepEqual(resolveSettings(table, {env: {SVC_GATE: '0'}}).warnings, expected('SVC_GATE'))
    const file = {path: 'Svc.toml', data: {soon: {gate: false}}, warnings: []}
    const {settings: shown, warnings} = describeSettings({env: {}, file}, [table])
    assert.deepEqual(warnings, expected('soon.gate'))
    assert.equal(shown[0]?.planned, true)
  })
})

describe('a strict setting', () => {
  const table = settings('sound', () => ({
    kind: {type: types.choice('a', 'b'), env: ['SVC_KIND'], strict: true, default: 'a', doc: ''},
  }))

  it('refuses a variable that cannot be read', () => {
    assert.equal(resolveSettings(table, {env: {SVC_KIND: 'B'}}).values.kind, 'b')
    assert.throws(() => resolveSettings(table, {env: {SVC_KIND: 'q4'}}), {
      code: 'config_variable',
      message: 'SVC_KIND must be one of a, b, not "q4".',
    })
  })

  it('is the precision, the backend and the task of speech', () => {
    const speech = settingTables.find(({name, rows}) => name === 'speech' && 'precision' in rows)
    assert.ok(speech)
    for (const variable of ['SVC_SPEECH_DTYPE', 'SVC_SPEECH_BACKEND', 'SVC_SPEECH_TASK'])
      assert.throws(() => resolveSettings(speech, {env: {[variable]: 'q4'}}), {code: 'config_variable'})
  })
})
