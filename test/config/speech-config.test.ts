import assert from 'node:assert/strict'
import {mkdir} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {
  type ConfigFile,
  describeSettings,
  readSpeechConfig,
  resolveSettings,
  settings,
  settingTables,
  speechRefineSettings,
  speechSessionSettings,
  speechSettings,
  types,
} from '../../src/config/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

/** Reads a real file, as a command does. */
async function read(test: TestContext, toml: string | Uint8Array): Promise<ConfigFile> {
  const folder = await temporaryFolder(test)
  await writeFiles(folder, {'speech.toml': toml})
  return readSpeechConfig(join(folder, 'speech.toml'), settingTables)
}

const fileOf = (data: Record<string, unknown>): ConfigFile => ({path: '/project/Svc.toml', data, warnings: []})

describe('the file of SVC_SPEECH_CONFIG', () => {
  it('sets speech settings', async (t) => {
    const speechConfig = await read(
      t,
      'capture_timeout_ms = 5000\ntool_route_min_confidence = 0.6\nrefine_balanced_base = 0.88\n',
    )
    const env = {SVC_SPEECH_TOOL_ROUTE_MIN_CONFIDENCE: '0.71'}
    const session = resolveSettings(speechSessionSettings, {env, speechConfig}).values
    const refine = resolveSettings(speechRefineSettings, {env, speechConfig}).values
    assert.deepEqual(speechConfig.warnings, [])
    assert.equal(session.captureTimeoutMs, 5000)
    assert.equal(session.toolRouteMinConfidence, 0.71)
    assert.equal(refine.refineBalancedBase, 0.88)
  })

  it('accepts every key of [speech], of any type', async (t) => {
    const rows = settingTables.flatMap((table) => Object.values(table.rows))
    const keys = rows.flatMap(({toml = []}) => toml).filter((key) => key.startsWith('speech.'))
    assert.ok(keys.length > 60)
    const lines = rows.flatMap(({toml = [], default: fallback, type}) =>
      toml
        .filter((key) => key.startsWith('speech.'))
        .map(
          (key) =>
            `${key.slice('speech.'.length)} = ${JSON.stringify(fallback ?? (type.accept('x') === undefined ? 1 : 'x'))}`,
        ),
    )
    assert.deepEqual((await read(t, lines.join('\n'))).warnings, [])
  })

  it('can be empty, and a blank value in it counts as not set', async (t) => {
    assert.deepEqual((await read(t, '')).warnings, [])
    const speechConfig = await read(t, 'language = " "\nmodel = " ./base "\n')
    const {values} = resolveSettings(speechSettings, {env: {}, speechConfig})
    assert.equal(values.language, undefined)
    assert.equal(values.model, './base')
    assert.deepEqual(speechConfig.warnings, [])
  })

  const unknown: [toml: string, subject: string, meant: string | undefined][] = [
    ['capture_timeout = 5000', 'capture_timeout', 'capture_timeout_ms'],
    ['llm_min_confidence = 0.5', 'llm_min_confidence', 'llm_min_det_confidence'],
    ['kitchen_sink = true', 'kitchen_sink', undefined],
    ['[speech]\nbeam_size = 3', 'speech', undefined],
  ]
  for (const [toml, subject, meant] of unknown)
    it(`warns about ${toml.replaceAll('\n', ' ')}${meant === undefined ? '' : ` and suggests ${meant}`}`, async (t) => {
      const {path, warnings} = await read(t, `heartbeat_ms = 4000\n${toml}`)
      assert.deepEqual(
        warnings.map(({code, subject}) => [code, subject]),
        [['config_key_unknown', subject]],
      )
      const message = warnings[0]?.message ?? ''
      assert.ok(message.startsWith(`${path}: unknown setting ${subject}.`), message)
      if (meant !== undefined) assert.ok(message.endsWith(` Did you mean ${meant}?`), message)
    })

  it('still reads the known keys next to an unknown one', async (t) => {
    const speechConfig = await read(t, 'heartbeat_ms = 4000\nkitchen_sink = 1')
    assert.equal(resolveSettings(speechSessionSettings, {env: {}, speechConfig}).values.heartbeatMs, 4000)
  })

  const broken: [why: string, toml: string, expected: RegExp][] = [
    ['is not TOML', 'heartbeat_ms = 4000\nbeam_size = \n', /speech\.toml:2:\d+ is not valid TOML/],
    [
      'has a value of a wrong type',
      'heartbeat_ms = 4000\nbeam_size = "two"',
      /beam_size must be a whole number .*, not "two"/,
    ],
    ['has a number out of range', 'heartbeat_ms = 4000\nbeam_size = 0', /beam_size must be a whole number .*, not 0/],
    ['has a word that is none', 'heartbeat_ms = 4000\nvad = "loud"', /vad must be one of energy, .*, not "loud"/],
    ['has a table for a value', 'heartbeat_ms = 4000\n[beam_size]\nx = 1', /beam_size must be .*, not a table/],
    ['is too large', `heartbeat_ms = 4000\n#${' '.repeat(2 ** 20)}`, /it is larger than 1048576 bytes/],
  ]
  for (const [why, toml, expected] of broken)
    it(`is ignored completely, with one warning, if it ${why}`, async (t) => {
      const speechConfig = await read(t, toml)
      assert.deepEqual(
        speechConfig.warnings.map(({code}) => code),
        ['speech_config_ignored'],
      )
      const message = speechConfig.warnings[0]?.message ?? ''
      assert.match(message, /^SVC_SPEECH_CONFIG is ignored: /)
      assert.ok(message.includes(speechConfig.path))
      assert.match(message, expected)
      assert.equal(resolveSettings(speechSessionSettings, {env: {}, speechConfig}).values.heartbeatMs, 3000)
    })

  it('yields one warning, not two, if it has a wrong type and an unknown key', async (t) => {
    const {warnings} = await read(t, 'kitchen_sink = 1\nbeam_size = "two"')
    assert.deepEqual(
      warnings.map(({code}) => code),
      ['speech_config_ignored'],
    )
  })

  it('does not print a secret of the wrong type', async (t) => {
    const {warnings} = await read(t, 'token = ["hunter2"]')
    assert.equal(warnings.length, 1)
    assert.doesNotMatch(JSON.stringify(warnings), /hunter2/)
  })

  it('is ignored if it does not exist, is a folder or a device', async (t) => {
    const folder = await temporaryFolder(t)
    await mkdir(join(folder, 'folder'))
    for (const path of [join(folder, 'missing.toml'), join(folder, 'folder'), '/dev/zero']) {
      const {warnings, data} = await readSpeechConfig(path, settingTables)
      assert.deepEqual(
        warnings.map(({code, subject}) => [code, subject]),
        [['speech_config_ignored', path]],
      )
      assert.ok(warnings[0]?.message.includes(path))
      assert.deepEqual(data, {})
    }
  })

  it('does not set settings of other subjects', async (t) => {
    const {warnings} = await read(t, 'num_ctx = 5')
    assert.equal(warnings.length, 1)
    const {settings: all} = describeSettings({env: {}, speechConfig: {path: 'x', data: {num_ctx: 5}, warnings: []}})
    assert.ok(all.every(({origin}) => origin.source === 'default'))
  })
})

describe('a speech setting with all five sources', () => {
  const sources = {
    flags: {beamSize: 5},
    env: {SVC_SPEECH_BEAM_SIZE: '4'},
    speechConfig: {path: '/project/speech.toml', data: {beam_size: 3}, warnings: []},
    file: fileOf({speech: {beam_size: 2}}),
  }
  const none = {flags: {}, env: {}, speechConfig: undefined, file: undefined}
  const order = ['flags', 'env', 'speechConfig', 'file'] as const
  const names = ['flag --beam', 'env SVC_SPEECH_BEAM_SIZE', 'speech-config beam_size', 'file speech.beam_size']
  const originOf = ({source, name}: {source: string; name?: string}) => `${source} ${name}`

  for (const [i, name] of names.entries())
    it(`is ${5 - i} from ${name}, overriding ${3 - i}`, () => {
      const set = {...none, ...Object.fromEntries(order.slice(i).map((source) => [source, sources[source]]))}
      const {values, settings: resolved} = resolveSettings(speechSettings, set)
      const found = resolved.find((setting) => setting.name === 'speech.beam_size')
      assert.ok(found)
      assert.equal(values.beamSize, 5 - i)
      assert.equal(originOf(found.origin), name)
      assert.deepEqual(
        found.overridden.map((loser) => `${originOf(loser)} = ${loser.value}`),
        names.slice(i + 1).map((loser, j) => `${loser} = ${4 - i - j}`),
      )
    })

  it('is 1 without any source', () => {
    assert.equal(resolveSettings(speechSettings, none).values.beamSize, 1)
  })

  it('hides a secret of the file, overridden or not', () => {
    const speechConfig = {path: 'x', data: {token: 'hunter2-hunter2'}, warnings: []}
    for (const env of [{}, {SVC_SPEECH_TOKEN: 'hunter1-hunter1'}]) {
      const described = describeSettings({env, speechConfig}).settings
      assert.equal(described.find(({name}) => name === 'speech.token')?.value, '(set)')
      assert.doesNotMatch(JSON.stringify(described), /hunter/)
    }
  })
})

describe('two keys of the file for one setting', () => {
  it('have the precedence of their order in the row', () => {
    const table = settings('speech', () => ({
      lexicon: {type: types.path(), toml: ['speech.new_path', 'speech.old_path', 'other.path'], doc: 'Lexicon.'},
    }))
    const speechConfig = {path: 'x', data: {old_path: 'b', new_path: 'a', path: 'c'}, warnings: []}
    const {settings: resolved} = resolveSettings(table, {env: {}, speechConfig})
    assert.deepEqual(resolved[0]?.origin, {source: 'speech-config', name: 'new_path'})
    assert.deepEqual(resolved[0]?.overridden, [{source: 'speech-config', name: 'old_path', value: 'b'}])
  })
})
