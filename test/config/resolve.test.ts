import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  type ConfigFile,
  describeSettings,
  engineSettings,
  inferenceSettings,
  loggingSettings,
  meshSettings,
  resolveSettings,
  settings,
  settingTables,
  speechRefineSettings,
  types,
} from '../../src/config/index.js'
import {isErrorOf} from '../../src/errors/index.js'

const fileOf = (data: Record<string, unknown>): ConfigFile => ({path: '/work/Svc.toml', data, warnings: []})

describe('a setting with all sources', () => {
  const table = settings('engine', () => ({
    numCtx: {
      type: types.integer({min: 0}),
      flag: 'num-ctx',
      env: ['SVC_NUM_CTX', 'SVC_OLD_CTX'],
      toml: ['engine.num_ctx', 'orchestrator.num_ctx'],
      default: 1,
      doc: 'Context.',
    },
  }))
  const flag = {flags: {numCtx: 6}}
  const first = {env: {SVC_NUM_CTX: '5'}}
  const second = {env: {SVC_OLD_CTX: '4'}}
  const both = {env: {SVC_NUM_CTX: '5', SVC_OLD_CTX: '4'}}
  const file = {file: fileOf({engine: {num_ctx: 3}})}
  const user = {
    userFile: {path: '/home/me/.svc/config.toml', data: {engine: {num_ctx: 7}}, warnings: []},
  }
  const elsewhere = {file: fileOf({orchestrator: {num_ctx: 2}})}
  const files = {file: fileOf({engine: {num_ctx: 3}, orchestrator: {num_ctx: 2}})}
  const cases: [sources: object, value: number, source: string, overridden: string[]][] = [
    [{}, 1, 'default', []],
    [user, 7, 'user-file engine.num_ctx in /home/me/.svc/config.toml', []],
    [
      {...elsewhere, ...user},
      2,
      'file orchestrator.num_ctx',
      ['user-file engine.num_ctx in /home/me/.svc/config.toml = 7'],
    ],
    [elsewhere, 2, 'file orchestrator.num_ctx', []],
    [file, 3, 'file engine.num_ctx', []],
    [files, 3, 'file engine.num_ctx', ['file orchestrator.num_ctx = 2']],
    [{...second, ...files}, 4, 'env SVC_OLD_CTX', ['file engine.num_ctx = 3', 'file orchestrator.num_ctx = 2']],
    [first, 5, 'env SVC_NUM_CTX', []],
    [both, 5, 'env SVC_NUM_CTX', ['env SVC_OLD_CTX = 4']],
    [
      {...flag, ...both, ...files},
      6,
      'flag --num-ctx',
      ['env SVC_NUM_CTX = 5', 'env SVC_OLD_CTX = 4', 'file engine.num_ctx = 3', 'file orchestrator.num_ctx = 2'],
    ],
  ]
  const originOf = ({source, name}: {source: string; name?: string}) =>
    name === undefined ? source : `${source} ${name}`
  for (const [sources, value, source, overridden] of cases)
    it(`is ${value} from ${source}${overridden.length === 0 ? '' : `, overriding ${overridden.length}`}`, () => {
      const {values, settings: resolved, warnings} = resolveSettings(table, {env: {}, ...sources})
      assert.deepEqual(values, {numCtx: value})
      assert.equal(resolved[0]?.name, 'engine.num_ctx')
      assert.equal(originOf(resolved[0].origin), source)
      assert.deepEqual(
        resolved[0].overridden.map((loser) => `${originOf(loser)} = ${loser.value}`),
        overridden,
      )
      assert.deepEqual(warnings, [])
    })
})

describe('a relative path', () => {
  const valuesOf = (sources: object) => ({
    ...resolveSettings(engineSettings, {env: {}, ...sources}).values,
    lexicon: resolveSettings(speechRefineSettings, {env: {}, ...sources}).values.lexiconPath,
  })
  for (const [model, expected] of [
    ['./models/mine', '/work/models/mine'],
    ['../mine', '/mine'],
    ['models/mine', 'models/mine'],
    ['/models/mine', '/models/mine'],
  ])
    it(`of Svc.toml starts at its directory: ${model}`, () => {
      const file = fileOf({engine: {model}, speech: {lexicon_path: 'words.json'}})
      const values = valuesOf({file})
      assert.deepEqual([values.model, values.lexicon], [expected, '/work/words.json'])
    })

  it('of a flag or variable starts at the current directory', () => {
    assert.equal(valuesOf({flags: {model: './a'}}).model, './a')
    assert.equal(valuesOf({env: {SVC_MODEL: './a'}}).model, './a')
  })
})

describe('an environment variable', () => {
  const threads = (value: string, file?: ConfigFile) =>
    resolveSettings(engineSettings, {env: {SVC_THREADS: value}, file})

  it('is trimmed', () => {
    assert.equal(threads(' 4 \n').values.threads, 4)
  })

  it('counts as not set if it is blank', () => {
    const {values, warnings} = threads('  ', fileOf({engine: {threads: 3}}))
    assert.equal(values.threads, 3)
    assert.deepEqual(warnings, [])
  })

  it('is ignored with a warning if it is invalid, and the next source is used', () => {
    const {values, warnings} = threads('many', fileOf({engine: {threads: 3}}))
    assert.equal(values.threads, 3)
    assert.deepEqual(warnings, [
      {
        code: 'config_env_invalid',
        subject: 'SVC_THREADS',
        message: 'SVC_THREADS must be a whole number from 0 to 256, not "many"; the variable is ignored.',
      },
    ])
  })

  it('out of range is ignored, not clamped', () => {
    const {values, warnings} = threads('100000')
    assert.equal(values.threads, 0)
    assert.equal(warnings.length, 1)
  })

  it('does not print a secret in a warning', () => {
    const table = settings('x', () => ({
      pin: {type: types.integer(), env: ['PIN'], secret: true, doc: 'Pin.'},
    }))
    const {warnings} = resolveSettings(table, {env: {PIN: 'hunter2'}})
    assert.equal(warnings.length, 1)
    assert.doesNotMatch(JSON.stringify(warnings), /hunter2/)
  })
})

describe('an empty environment variable', () => {
  const file = fileOf({
    mesh: {control_url: 'http://control:1', inference_base_url: 'http://inference:2', scope_id: 'team'},
    log: {filter: 'debug'},
  })

  for (const [variable, name] of [
    ['SVC_ORCHESTRATOR_MESH_CONTROL_URL', 'controlUrl'],
    ['SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL', 'inferenceBaseUrl'],
    ['SVC_MESH_SCOPE_ID', 'scopeId'],
  ] as const)
    it(`${variable} clears the value of the file`, () => {
      assert.notEqual(resolveSettings(meshSettings, {env: {}, file}).values[name], undefined)
      assert.equal(resolveSettings(meshSettings, {env: {[variable]: ''}, file}).values[name], undefined)
    })

  it('that clears the inference server of the mesh leaves clients at their default', () => {
    const {values} = resolveSettings(inferenceSettings, {env: {SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL: ''}, file})
    assert.equal(values.url, 'http://127.0.0.1:11435')
  })

  it('clears nothing else', () => {
    assert.equal(resolveSettings(loggingSettings, {env: {SVC_LOG: ''}, file}).values.filter, 'debug')
  })
})

describe('the URL of the inference server', () => {
  const mesh = {inference_base_url: 'http://mesh:4'}
  const orchestrator = {mesh_inference_base_url: 'http://orchestrator:5', populi_inference_base_url: 'http://populi:6'}
  const first = {SVC_INFERENCE_URL: 'http://first:1'}
  const second = {SVC_LOCAL_SERVER_URL: 'http://second:2'}
  const merged = {SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL: 'http://merged:3'}
  const everything = {mesh, orchestrator}
  const cases: [sources: string, url: string, env: Record<string, string>, data: Record<string, unknown>][] = [
    ['everything', 'http://first:1', {...first, ...second, ...merged}, everything],
    ['all but SVC_INFERENCE_URL', 'http://second:2', {...second, ...merged}, everything],
    ['the mesh variable and the file', 'http://merged:3', merged, everything],
    ['only the file', 'http://mesh:4', {}, everything],
    ['[orchestrator]', 'http://orchestrator:5', {}, {orchestrator}],
    ['only its older key', 'http://populi:6', {}, {orchestrator: {populi_inference_base_url: 'http://populi:6'}}],
    ['nothing', 'http://127.0.0.1:11435', {}, {}],
    ['an invalid SVC_INFERENCE_URL', 'http://second:2', {SVC_INFERENCE_URL: 'ftp://x', ...second}, everything],
  ]
  for (const [sources, url, env, data] of cases)
    it(`is ${url}, given ${sources}`, () => {
      assert.equal(resolveSettings(inferenceSettings, {env, file: fileOf(data)}).values.url, url)
    })
})

describe('a value of the file', () => {
  it('is trimmed, and counts as not set if it is blank', () => {
    const file = fileOf({mesh: {scope_id: ' team '}, log: {filter: '  '}})
    assert.equal(resolveSettings(meshSettings, {env: {}, file}).values.scopeId, 'team')
    assert.equal(resolveSettings(loggingSettings, {env: {}, file}).values.filter, 'warn')
  })

  it('of the wrong type is an error even if a flag overrides it', () => {
    const file = fileOf({engine: {threads: 'four'}})
    assert.throws(
      () => resolveSettings(engineSettings, {flags: {threads: 2}, env: {SVC_THREADS: '3'}, file}),
      (error) => isErrorOf(error, 'config_type') && error.params.key === 'engine.threads',
    )
  })

  it('of the wrong type is not printed if it is a secret', () => {
    const table = settings('x', () => ({
      token: {type: types.text('a token'), toml: ['x.token'], secret: true, doc: 'Token.'},
    }))
    assert.throws(
      () => resolveSettings(table, {env: {}, file: fileOf({x: {token: ['hunter2']}})}),
      (error: Error) => isErrorOf(error, 'config_type') && !error.message.includes('hunter2'),
    )
  })
})

describe('describeSettings', () => {
  it('lists each setting once, with its doc and a default that its type accepts', () => {
    const {settings: described, warnings} = describeSettings({env: {}})
    assert.deepEqual(warnings, [])
    assert.equal(new Set(described.map(({name}) => name)).size, described.length)
    for (const {name, doc, takes, origin, value} of described) {
      assert.match(name, /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/)
      assert.match(doc, /^[A-Z].*\.$/, name)
      assert.notEqual(takes, '')
      assert.deepEqual(origin, {source: 'default'}, name)
      assert.notEqual(value, undefined)
    }
    for (const {setting, name} of settingTables.flatMap((table) => resolveSettings(table, {env: {}}).settings))
      if (setting.default !== undefined) assert.deepEqual(setting.type.accept(setting.default), setting.default, name)
  })

  it('shows only that a secret is set', () => {
    const {settings: described} = describeSettings({env: {SVC_MESH_TOKEN: 'hunter2-hunter2'}})
    const token = described.find(({name}) => name === 'mesh.token')
    assert.equal(token?.value, '(set)')
    assert.equal(described.find(({name}) => name === 'inference.api_key')?.value, null)
    assert.doesNotMatch(JSON.stringify(described), /hunter2/)
  })

  it('hides an overridden secret', () => {
    const {settings: described} = describeSettings({
      flags: {apiKey: 'hunter1-hunter1'},
      env: {SVC_INFERENCE_API_KEY: 'hunter2-hunter2'},
    })
    const key = described.find(({name}) => name === 'inference.api_key')
    assert.deepEqual(key?.overridden, [{source: 'env', name: 'SVC_INFERENCE_API_KEY', value: '(set)'}])
    assert.doesNotMatch(JSON.stringify(described), /hunter/)
  })

  it('warns once about a variable shared by two settings', () => {
    const {warnings} = describeSettings({env: {SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL: 'ftp://x'}})
    assert.deepEqual(
      warnings.map(({subject}) => subject),
      ['SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL'],
    )
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
