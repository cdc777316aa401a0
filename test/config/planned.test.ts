import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {describeSettings, resolveSettings, settings, settingTables, types} from '../../src/config/index.js'
import {projectFile} from '../support/project.js'

/** Sources that only declare settings, hand them on, or show them. */
const notReaders = ['src/config/', 'src/orchestrator/config.ts', 'src/contracts/']

/** Unread settings whose names other values have too. */
const sharedNames = ['speech.keepAliveMs', 'speech.heartbeatMs']

/** Every identifier in the program outside of those, comments left out. */
function identifiers(): Set<string> {
  const sources = ['src', 'commands'].flatMap((folder) =>
    readdirSync(projectFile(folder), {recursive: true, encoding: 'utf8'})
      .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
      .filter((file) => file.endsWith('.ts') && !notReaders.some((path) => file.startsWith(path))),
  )
  const text = sources.map((file) => readFileSync(projectFile(file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ''))
  return new Set(text.join('\n').match(/[A-Za-z_$][\w$]*/g))
}

describe('planned settings', () => {
  const used = identifiers()
  const all = settingTables.flatMap(({name, rows}) =>
    Object.entries(rows).map(([key, setting]) => ({name: `${name}.${key}`, key, setting})),
  )

  it('are those whose value nothing reads', () => {
    const unread = all.filter(({name, key}) => !used.has(key) || sharedNames.includes(name)).map(({name}) => name)
    const planned = all.filter(({setting}) => setting.planned).map(({name}) => name)
    assert.deepEqual(planned, unread)
    assert.ok(planned.length > 0)
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
      message: 'SVC_KIND takes one of a, b, not "q4".',
    })
  })

  it('is the precision, the backend and the task of speech', () => {
    const speech = settingTables.find(({name, rows}) => name === 'speech' && 'precision' in rows)
    assert.ok(speech)
    for (const variable of ['SVC_SPEECH_DTYPE', 'SVC_SPEECH_BACKEND', 'SVC_SPEECH_TASK'])
      assert.throws(() => resolveSettings(speech, {env: {[variable]: 'q4'}}), {code: 'config_variable'})
  })
})
