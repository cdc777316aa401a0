import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {realpath} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {type ConfigShowV1, contractViolations, type DoctorV1} from '../../src/contracts/index.js'
import {svc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

async function workspace(test: TestContext, toml?: string): Promise<string> {
  const folder = await realpath(await temporaryFolder(test))
  if (toml !== undefined) await writeFiles(folder, {'Svc.toml': toml})
  return folder
}

async function show(cwd: string, env: Record<string, string> = {}) {
  const {stdout, stderr, exitCode} = await svcInTurn(['config', 'show', '--json'], {cwd, env})
  const result = JSON.parse(stdout) as ConfigShowV1
  assert.deepEqual(await contractViolations('cli/config-show.v1', result), [])
  const setting = (name: string) => {
    const found = result.settings.find((candidate) => candidate.name === name)
    assert.ok(found, name)
    return {value: found.value, origin: found.origin, overridden: found.overridden}
  }
  return {result, setting, stderr, exitCode}
}

describe('svc config show', () => {
  it('shows the value, its source and all overridden values', async (test) => {
    const toml = '[mesh]\ncontrol_url = "http://a:1"\n[orchestrator]\nmesh_control_url = "http://b:2"\n'
    const cwd = await workspace(test, toml)
    const {setting, result} = await show(cwd, {SVC_ORCHESTRATOR_MESH_CONTROL_URL: 'c:3/'})
    assert.deepEqual(setting('mesh.control_url'), {
      value: 'http://c:3',
      origin: {source: 'env', name: 'SVC_ORCHESTRATOR_MESH_CONTROL_URL'},
      overridden: [
        {source: 'file', name: 'mesh.control_url', value: 'http://a:1'},
        {source: 'file', name: 'orchestrator.mesh_control_url', value: 'http://b:2'},
      ],
    })
    assert.equal(result.file, join(cwd, 'Svc.toml'))
    assert.equal(result.root, cwd)
  })

  it('finds Svc.toml in the nearest parent folder', async (test) => {
    const cwd = await workspace(test, '[engine]\nthreads = 1\n')
    await writeFiles(cwd, {'inner/deep/file': '', 'inner/Svc.toml': '[engine]\nthreads = 2\n'})
    assert.equal((await show(join(cwd, 'inner/deep'))).setting('engine.threads').value, 2)
  })

  it('clears a value of the file with an empty variable, if the setting allows it', async (test) => {
    const cwd = await workspace(test, '[mesh]\nscope_id = "team"\ncontrol_url = "http://a:1"\n[engine]\nthreads = 3\n')
    const {setting} = await show(cwd, {SVC_MESH_SCOPE_ID: '', SVC_ORCHESTRATOR_MESH_CONTROL_URL: ' ', SVC_THREADS: ''})
    assert.equal(setting('mesh.scope_id').value, null)
    assert.equal(setting('mesh.control_url').value, null)
    assert.equal(setting('engine.threads').value, 3)
  })

  it('shows a value of ~/.svc/config.toml, which Svc.toml overrides', async (test) => {
    const cwd = await workspace(test, '[engine]\nthreads = 2\n')
    const home = await workspace(test)
    const path = join(home, '.svc', 'config.toml')
    assert.equal((await show(cwd, {HOME: home})).setting('engine.num_ctx').value, 0)
    assert.ok(!existsSync(path))
    await writeFiles(home, {'.svc/config.toml': '[engine]\nthreads = 3\nnum_ctx = 512\nthread = 1\n'})
    const {setting, stderr} = await show(cwd, {HOME: home})
    assert.deepEqual(setting('engine.threads'), {
      value: 2,
      origin: {source: 'file', name: 'engine.threads'},
      overridden: [{source: 'user-file', name: `engine.threads in ${path}`, value: 3}],
    })
    assert.deepEqual(setting('engine.num_ctx').origin, {source: 'user-file', name: `engine.num_ctx in ${path}`})
    assert.ok(stderr.includes(`${path}: unknown setting engine.thread. Did you mean engine.threads?`), stderr)
  })

  for (const [fault, toml, message] of [
    ['cannot be parsed', '[engine\n', /config\.toml:1:\d+ is not valid TOML/],
    ['has a value of the wrong type', '[engine]\nthreads = "many"\n', /config\.toml: engine\.threads must be /],
  ] as const)
    it(`exits with status 2 if ~/.svc/config.toml ${fault}`, async (test) => {
      const home = await workspace(test)
      await writeFiles(home, {'.svc/config.toml': toml})
      const {stderr, exitCode} = await svcInTurn(['config', 'show'], {cwd: home, env: {HOME: home}})
      assert.equal(exitCode, 2)
      assert.match(stderr, message)
    })

  it('never shows a secret', async (test) => {
    const cwd = await workspace(test)
    const env = {SVC_MESH_TOKEN: 'tok-1234567', SVC_INFERENCE_API_KEY: 'key-1234567'}
    for (const args of [['--json'], []]) {
      const {stdout, stderr} = await svc(['config', 'show', ...args], {cwd, env})
      assert.match(stdout, /\(set\)/)
      assert.doesNotMatch(stdout + stderr, /1234567/)
    }
  })

  it('warns about invalid variables and continues', async (test) => {
    const cwd = await workspace(test, '[engine]\nthread = 3\n[mens]\nscope_id = "old"\n')
    const {setting, stderr, exitCode, result} = await show(cwd, {SVC_TEMPERATURE: 'hot'})
    assert.equal(exitCode, 0)
    assert.equal(setting('mesh.scope_id').value, 'old')
    assert.match(stderr, /\[mens\] is deprecated; rename it to \[mesh\]/)
    assert.match(stderr, /unknown setting engine\.thread\. Did you mean engine\.threads\?/)
    assert.match(stderr, /SVC_TEMPERATURE must be a number .*, not "hot"/)
    assert.deepEqual(result.warnings.map(({subject}) => subject).sort(), ['SVC_TEMPERATURE', 'engine.thread', 'mens'])
  })

  it('prints a table, with only changed settings for --changed', async (test) => {
    const cwd = await workspace(test)
    const all = await svcInTurn(['config', 'show'], {cwd})
    assert.match(all.stdout, /^SETTING +VALUE +FROM +OVERRIDES\n/)
    const changed = await svcInTurn(['config', 'show', '--changed'], {cwd, env: {SVC_THREADS: '2'}})
    assert.match(changed.stdout, /^SETTING.*\nengine\.threads +2 +env SVC_THREADS\n$/)
  })
})

describe('a boolean variable with an invalid value', () => {
  for (const [variable, args] of [
    ['SVC_MESH_ENABLED', ['mesh', 'status']],
    ['SVC_MESH_ADVERTISE_GPU', ['mesh', 'status']],
    ['SVC_UNIFIED_ROUTING', ['orch', 'status']],
    ['SVC_MCP_LLM_COST_EVENTS', ['orch', 'oplog']],
    ['SVC_MCP_LLM_COST_EVENTS', ['mcp', 'call', 'svc_orchestrator_status']],
    ['SVC_SPEECH_VERBOSE', ['speech', 'status']],
    ['SVC_SPEECH_OFFLINE', ['config', 'check']],
  ] as const)
    it(`causes one warning in svc ${args.join(' ')}: ${variable}`, async (test) => {
      const cwd = await workspace(test)
      const {stderr, exitCode} = await svcInTurn(args, {cwd, env: {[variable]: 'maybe'}})
      assert.equal(exitCode, 0, stderr)
      const warnings = stderr.split('\n').filter((line) => line.startsWith('warning: '))
      assert.equal(warnings.length, 1, stderr)
      assert.match(
        warnings[0] ?? '',
        new RegExp(`${variable} must be true or false.*, not "maybe"; the variable is ignored`),
      )
    })
})

describe('a speech variable with an invalid value', () => {
  for (const [variable, value] of [
    ['SVC_SPEECH_DTYPE', 'q4'],
    ['SVC_SPEECH_BACKEND', 'sherpa'],
    ['SVC_SPEECH_TASK', 'sing'],
  ] as const)
    it(`stops only the commands that read it: ${variable}`, async (test) => {
      const cwd = await workspace(test)
      await writeFiles(cwd, {'a.wav': ''})
      const env = {[variable]: value}
      for (const args of [
        ['config', 'check'],
        ['speech', 'status'],
        ['transcribe', 'a.wav'],
      ]) {
        const {stdout, exitCode} = await svcInTurn([...args, '--json'], {cwd, env})
        const {error} = JSON.parse(stdout)
        assert.deepEqual([error.code, error.exit, exitCode], ['config_variable', 2, 2])
        assert.match(error.message, new RegExp(`^${variable} must be one of .*, not "${value}"\\.$`))
        assert.match(error.remediation, new RegExp(`^Set ${variable} to one of .*, or unset it\\.$`))
      }
      const {exitCode, stderr} = await svcInTurn(['orch', 'submit', 'work'], {cwd, env})
      assert.equal(exitCode, 0, stderr)
    })

  it('is reported by svc doctor, which continues', async (test) => {
    const env = {SVC_SPEECH_DTYPE: 'q4'}
    const {stdout, exitCode} = await svcInTurn(['doctor', '--json'], {cwd: await workspace(test), env})
    const {checks} = JSON.parse(stdout) as DoctorV1
    const found = (name: string) => checks.find((check) => check.name === name)
    assert.equal(exitCode, 1)
    assert.match(found('settings')?.value ?? '', /^SVC_SPEECH_DTYPE must be one of/)
    assert.equal(found('sqlite')?.state, 'ok')
  })
})

describe('svc config check', () => {
  it('passes a valid Svc.toml, and a workspace without one', async (test) => {
    const sound = await svcInTurn(['config', 'check', '--json'], {
      cwd: await workspace(test, '[log]\nfilter = "info"\n'),
    })
    const result = JSON.parse(sound.stdout)
    assert.deepEqual(await contractViolations('cli/config-check.v1', result), [])
    assert.deepEqual([result.ok, result.warnings], [true, []])
    const none = await svc(['config', 'check'], {cwd: await workspace(test)})
    assert.deepEqual([none.stdout, none.exitCode], ['No Svc.toml: ok\n', 0])
  })

  const broken: readonly [string, string, RegExp][] = [
    ['an unclosed string', '[engine]\nthreads = "2\n', /Svc\.toml:2:\d+ is not valid TOML/],
    ['a key set twice', 'a = 1\na = 2\n', /Svc\.toml:2:1 is not valid TOML/],
    ['a number where a text belongs', '[log]\nfilter = 3\n', /log\.filter must be .*, not 3/],
    [
      'a number out of range',
      '[engine]\ntemperature = 9.5\n',
      /engine\.temperature must be a number from 0 to 2, not 9\.5/,
    ],
    ['a value where a table belongs', 'mesh = "http://a"\n', /mesh must be a table, not "http:\/\/a"/],
    [
      'a table where a value belongs',
      '[engine.threads]\nx = 1\n',
      /engine\.threads must be a whole number .*, not a table/,
    ],
    ['a value instead of a table', 'mesh = "http://a"\n', /mesh must be a table, not "http:\/\/a"/],
    [
      'a table instead of a value',
      '[engine.threads]\nx = 1\n',
      /engine\.threads must be a whole number .*, not a table/,
    ],
  ]
  for (const [name, toml, says] of broken)
    it(`refuses ${name}, like every other command`, async (test) => {
      const cwd = await workspace(test, toml)
      for (const command of [
        ['config', 'check'],
        ['config', 'show'],
        ['contracts', 'list'],
      ]) {
        const {stderr, exitCode} = await svcInTurn(command, {cwd})
        assert.match(stderr, says)
        assert.equal(exitCode, 2)
      }
    })
})
