import assert from 'node:assert/strict'
import {mkdir, realpath, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {
  describeSettings,
  discoverWorkspace,
  meshSettings,
  readConfigFile,
  resolveSettings,
  settingTables,
  unknownKeys,
} from '../../src/config/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

/** Reads and checks a real file, as a command does. */
async function check(test: TestContext, toml: string | Uint8Array) {
  const folder = await temporaryFolder(test)
  await writeFiles(folder, {'Svc.toml': toml})
  const file = await readConfigFile(join(folder, 'Svc.toml'))
  const unknown = unknownKeys(settingTables, file)
  const {settings, warnings} = describeSettings({env: {}, file})
  return {
    file,
    warnings: [...file.warnings, ...unknown, ...warnings],
    value: (name: string) => settings.find((setting) => setting.name === name)?.value,
  }
}

describe('a workspace with a Svc.toml', () => {
  it('reads its settings from the file', async (t) => {
    const {value, warnings} = await check(
      t,
      `
        # several sections
        [log]
        filter = "info,llm=debug"
        [engine]
        threads = 4
        temperature = 0
        [mesh]
        control_url = "http://127.0.0.1:9847/"
        labels = ["pool=a", " pool=a ", ""]
        advertise_gpu = true
      `,
    )
    assert.deepEqual(warnings, [])
    assert.equal(value('log.filter'), 'info,llm=debug')
    assert.equal(value('engine.threads'), 4)
    assert.equal(value('engine.temperature'), 0)
    assert.equal(value('mesh.control_url'), 'http://127.0.0.1:9847')
    assert.deepEqual(value('mesh.labels'), ['pool=a'])
    assert.equal(value('mesh.advertise_gpu'), true)
  })

  it('accepts an empty file', async (t) => {
    const {warnings, value} = await check(t, '')
    assert.deepEqual(warnings, [])
    assert.equal(value('engine.threads'), 0)
  })

  it('accepts CRLF and a byte order mark', async (t) => {
    const {warnings, value} = await check(t, '\uFEFF[engine]\r\nthreads = 4\r\n')
    assert.deepEqual(warnings, [])
    assert.equal(value('engine.threads'), 4)
  })
})

describe('a Svc.toml that is not TOML', () => {
  const cases: [why: string, toml: string, line: number, column: number][] = [
    ['a value is missing', '[engine]\nthreads =\n', 2, 10],
    ['a string is not closed', '[log]\nfilter = "info\n', 2, 15],
    ['a key is repeated', '[engine]\nthreads = 1\nthreads = 2\n', 3, 1],
    ['a number is too large', '[engine]\n  threads = 99999999999999999999\n', 2, 13],
  ]
  for (const [why, toml, line, column] of cases)
    it(`is an error with line ${line} and column ${column} when ${why}`, async (t) => {
      const folder = await temporaryFolder(t)
      const path = join(folder, 'Svc.toml')
      await writeFiles(folder, {'Svc.toml': toml})
      await assert.rejects(readConfigFile(path), (error: Error) => {
        assert.ok(isErrorOf(error, 'config_unparsable'))
        assert.equal(error.exit, 2)
        assert.deepEqual([error.params.line, error.params.column], [line, column])
        assert.ok(error.message.startsWith(`${path}:${line}:${column} is not valid TOML: `))
        assert.match(error.message, /[^.\n]\.$/, 'one sentence on one line')
        return true
      })
    })
})

describe('a Svc.toml that cannot be read', () => {
  it('is file_not_found if it does not exist', async (t) => {
    const path = join(await temporaryFolder(t), 'Svc.toml')
    await assert.rejects(readConfigFile(path), (error) => isErrorOf(error, 'file_not_found'))
  })

  it('is file_unreadable if it is a directory', async (t) => {
    const folder = await temporaryFolder(t)
    await assert.rejects(readConfigFile(folder), (error) => isErrorOf(error, 'file_unreadable'))
  })
})

describe('a Svc.toml with a value of the wrong type', () => {
  const cases: [toml: string, sentence: string][] = [
    ['[engine]\nthreads = "four"', 'engine.threads must be a whole number from 0 to 256, not "four".'],
    ['[engine]\nthreads = 1.5', 'engine.threads must be a whole number from 0 to 256, not 1.5.'],
    ['[engine]\nthreads = 1000', 'engine.threads must be a whole number from 0 to 256, not 1000.'],
    ['[engine]\nthreads = true', 'engine.threads must be a whole number from 0 to 256, not true.'],
    ['[engine.threads]\ncount = 1', 'engine.threads must be a whole number from 0 to 256, not a table.'],
    ['[engine]\ntemperature = nan', 'engine.temperature must be a number from 0 to 2, not nan.'],
    ['[log]\nformat = "yaml"', 'log.format must be one of auto, text, json, not "yaml".'],
    ['[mesh]\nlabels = "pool=a"', 'mesh.labels must be a list of words, not "pool=a".'],
    ['[mesh]\nlabels = ["a", 1]', 'mesh.labels must be a list of words, not ["a",1].'],
    [
      '[mesh]\ncontrol_url = "ftp://x"',
      'mesh.control_url must be an http or https address without a user or password, not "ftp://x".',
    ],
    [
      '[mesh]\ncontrol_url = "http://ann:pw1@h"',
      'mesh.control_url must be an http or https address without a user or password, not "http://…@h".',
    ],
    ['mesh = "on"', 'mesh must be a table, not "on".'],
    ['[[mesh]]\nscope_id = "a"', 'mesh must be a table, not [{"scope_id":"a"}].'],
  ]
  for (const [toml, sentence] of cases)
    it(`is rejected: ${sentence}`, async (t) => {
      await assert.rejects(check(t, toml), (error: Error) => {
        assert.ok(isErrorOf(error, 'config_type'))
        assert.equal(error.exit, 2)
        assert.equal(error.message.slice(error.params.file.length), `: ${sentence}`)
        return true
      })
    })

  for (const value of ['1', '"true"'])
    it(`is rejected: a boolean must be true or false, not ${value}`, async (t) => {
      await assert.rejects(check(t, `[mesh]\nadvertise_gpu = ${value}`), (error: Error) => {
        assert.ok(isErrorOf(error, 'config_type'))
        assert.match(error.params.expected, /true or false/)
        return true
      })
    })
})

describe('a Svc.toml with unknown keys', () => {
  const cases: [toml: string, subject: string, meant: string | undefined][] = [
    ['[engine]\nthread = 4', 'engine.thread', 'engine.threads'],
    ['[mesh]\ncontrol-url = "http://x"', 'mesh.control-url', 'mesh.control_url'],
    ['[engin]\nthreads = 4', 'engin', 'engine'],
    ['[kitchen]\nsink = true', 'kitchen', undefined],
    ['[mesh.transport]\ntls_min = "1.3"', 'mesh.transport.tls_min', undefined],
    ['"engine.threads" = 4', 'engine.threads', undefined],
  ]
  for (const [toml, subject, meant] of cases)
    it(`warns about ${toml.replaceAll('\n', ' ')}${meant === undefined ? '' : ` and suggests ${meant}`}`, async (t) => {
      const {file, warnings} = await check(t, toml)
      assert.deepEqual(
        warnings.map(({code, subject}) => [code, subject]),
        [['config_key_unknown', subject]],
      )
      const message = warnings[0]?.message ?? ''
      assert.ok(message.startsWith(`${file.path}: unknown setting ${subject}.`))
      if (meant !== undefined) assert.ok(message.endsWith(` Did you mean ${meant}?`))
    })

  it('still reads the known keys', async (t) => {
    const {value} = await check(t, '[engine]\nthread = 4\nthreads = 5\n[kitchen]\nsink = true')
    assert.equal(value('engine.threads'), 5)
  })
})

describe('a Svc.toml with the legacy table [mens]', () => {
  it('is read, with a deprecation warning', async (t) => {
    const {value, warnings} = await check(t, '[mens]\ncontrol_url = "http://control:1"\nscope_id = "team"')
    assert.equal(value('mesh.control_url'), 'http://control:1')
    assert.equal(value('mesh.scope_id'), 'team')
    assert.deepEqual(
      warnings.map(({code, subject}) => [code, subject]),
      [['config_table_deprecated', 'mens']],
    )
    assert.match(warnings[0]?.message ?? '', /\[mens\] is deprecated; rename it to \[mesh\]/)
  })

  it('uses only [mesh] if both exist, without mixing their keys', async (t) => {
    const {value, warnings} = await check(
      t,
      '[mens]\ncontrol_url = "http://old:1"\nscope_id = "old"\n[mesh]\ncontrol_url = "http://new:2"',
    )
    assert.equal(value('mesh.control_url'), 'http://new:2')
    assert.equal(value('mesh.scope_id'), null)
    assert.deepEqual(
      warnings.map(({code}) => code),
      ['config_table_deprecated'],
    )
    assert.match(warnings[0]?.message ?? '', /\[mens\] is ignored/)
  })

  it('is checked for types and unknown keys like [mesh]', async (t) => {
    await assert.rejects(check(t, '[mens]\ncontrol_url = 5'), (error) => isErrorOf(error, 'config_type'))
    const {warnings} = await check(t, '[mens]\ncontrol_ulr = "http://x"')
    assert.deepEqual(
      warnings.map(({code}) => code),
      ['config_table_deprecated', 'config_key_unknown'],
    )
  })
})

describe('a Svc.toml with [mesh] and [orchestrator]', () => {
  it('prefers [mesh], and falls back to [orchestrator]', async (t) => {
    const {file} = await check(
      t,
      `
        [mesh]
        control_url = "http://mesh:1"
        [orchestrator]
        mesh_control_url = "http://orchestrator:2"
        mesh_scope_id = "team"
      `,
    )
    const {values, settings} = resolveSettings(meshSettings, {env: {}, file})
    assert.equal(values.controlUrl, 'http://mesh:1')
    assert.equal(values.scopeId, 'team')
    assert.deepEqual(settings.find(({name}) => name === 'mesh.control_url')?.overridden, [
      {source: 'file', name: 'orchestrator.mesh_control_url', value: 'http://orchestrator:2'},
    ])
  })
})

describe('discoverWorkspace', () => {
  /** A repository with a Svc.toml in a subfolder. */
  async function project(test: TestContext) {
    const root = await realpath(await temporaryFolder(test))
    await mkdir(join(root, '.git'))
    await mkdir(join(root, 'plain', 'deep'), {recursive: true})
    await mkdir(join(root, 'app', 'src', 'deep'), {recursive: true})
    await writeFiles(root, {'app/Svc.toml': ''})
    return root
  }

  const cases: [from: string, root: string, config: string | undefined][] = [
    ['app', 'app', 'app/Svc.toml'],
    ['app/src/deep', 'app', 'app/Svc.toml'],
    ['.', '.', undefined],
    ['plain/deep', '.', undefined],
    ['app/not/there/yet', 'app', 'app/Svc.toml'],
  ]
  for (const [from, root, config] of cases)
    it(`from ${from} finds ${root} with ${config ?? 'no file'}`, async (t) => {
      const folder = await project(t)
      assert.deepEqual(discoverWorkspace(join(folder, from)), {
        root: join(folder, root),
        ...(config === undefined ? {} : {configPath: join(folder, config)}),
      })
    })

  it('prefers an outer Svc.toml to an inner repository', async (t) => {
    const folder = await project(t)
    await writeFiles(folder, {'Svc.toml': '', 'plain/.git': 'gitdir: elsewhere\n'})
    assert.equal(discoverWorkspace(join(folder, 'plain', 'deep')).configPath, join(folder, 'Svc.toml'))
  })

  it('uses the nearest Svc.toml', async (t) => {
    const folder = await project(t)
    await writeFiles(folder, {'Svc.toml': ''})
    assert.equal(discoverWorkspace(join(folder, 'app', 'src')).configPath, join(folder, 'app', 'Svc.toml'))
  })

  it('resolves symbolic links', async (t) => {
    const folder = await project(t)
    await symlink(join(folder, 'app'), join(folder, 'link'))
    assert.deepEqual(discoverWorkspace(join(folder, 'link', 'src')), discoverWorkspace(join(folder, 'app', 'src')))
  })
})
