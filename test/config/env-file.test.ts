import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {chmod, chown, mkdir, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {getuid} from 'node:process'
import {describe, it, type TestContext} from 'node:test'
import {
  type EnvFile,
  meshEnvPath,
  meshSettings,
  parseEnvLines,
  readMeshEnv,
  resolveSettings,
  settingTables,
} from '../../src/config/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const file = '.svc/mesh/mesh.env'

async function folderWith(test: TestContext, text: string | undefined, mode = 0o600): Promise<string> {
  const folder = await temporaryFolder(test)
  if (text === undefined) return folder
  await writeFiles(folder, {[file]: text})
  await chmod(join(folder, file), mode)
  return folder
}

const read = (root: string, env: Record<string, string> = {}) => readMeshEnv(root, env, settingTables)
const messagesOf = ({warnings}: EnvFile) => warnings.map(({message}) => message)

describe('parseEnvLines', () => {
  const lines: readonly [line: string, value: string | undefined][] = [
    ['SVC_MESH_TOKEN=abc', 'abc'],
    ['  SVC_MESH_TOKEN = abc  ', 'abc'],
    ['export SVC_MESH_TOKEN=abc', 'abc'],
    ['SVC_MESH_TOKEN="abc"', 'abc'],
    ["SVC_MESH_TOKEN='a b c'", 'a b c'],
    ['SVC_MESH_TOKEN="a # b" # c', 'a # b'],
    ['SVC_MESH_TOKEN=" a "', ' a '],
    ["SVC_MESH_TOKEN='\ta b  '", '\ta b  '],
    ["SVC_MESH_TOKEN='a\"b'", 'a"b'],
    ['SVC_MESH_TOKEN=abc # a comment', 'abc'],
    ['SVC_MESH_TOKEN=abc#def', 'abc#def'],
    ['SVC_MESH_TOKEN=a=b==', 'a=b=='],
    ['SVC_MESH_TOKEN=a b', 'a b'],
    ['SVC_MESH_TOKEN=', ''],
    ['SVC_MESH_TOKEN=""', ''],
    ['SVC_MESH_TOKEN=# a comment', ''],
    ['\uFEFFSVC_MESH_TOKEN=abc', 'abc'],
    ['SVC_MESH_TOKEN="abc', undefined],
    ['SVC_MESH_TOKEN="abc" def', undefined],
    ['SVC_MESH_TOKEN', undefined],
    ['=abc', undefined],
    ['SVC-MESH-TOKEN=abc', undefined],
  ]
  for (const [line, value] of lines)
    it(`${value === undefined ? 'rejects' : `reads ${JSON.stringify(value)} from`} ${JSON.stringify(line)}`, () => {
      const [parsed] = parseEnvLines(line)
      assert.equal(parsed?.kind === 'variable' ? parsed.value : undefined, value)
      assert.equal(parsed?.kind === 'unreadable', value === undefined)
    })

  it('treats comments and empty lines as blank, with any line ending', () => {
    const kinds = parseEnvLines('# SVC_MESH_TOKEN=abc\r\n\r\n  # x\nSVC_MESH_TOKEN=abc\r\n').map(({kind}) => kind)
    assert.deepEqual(kinds, ['blank', 'blank', 'blank', 'variable', 'blank'])
  })
})

describe('readMeshEnv', () => {
  it('takes each variable from the first file that sets it', async (test) => {
    const [first, second, root, home] = await Promise.all([
      folderWith(test, 'SVC_MESH_TOKEN=1\nSVC_MESH_NODE_ID=\n'),
      folderWith(test, 'SVC_MESH_TOKEN=2\nSVC_MESH_WORKER_TOKEN=2\n'),
      folderWith(test, 'SVC_MESH_TOKEN=3\nSVC_MESH_WORKER_TOKEN=3\nSVC_MESH_ADMIN_TOKEN=3\n'),
      folderWith(test, 'SVC_MESH_TOKEN=4\nSVC_MESH_ADMIN_TOKEN=4\nSVC_MESH_NODE_ID=4\n'),
    ])
    const found = read(root, {SVC_WORKSPACE_ROOT: first, SVC_REPO_ROOT: second, HOME: home})
    assert.deepEqual(found, {
      values: {
        SVC_MESH_TOKEN: '1',
        SVC_MESH_WORKER_TOKEN: '2',
        SVC_MESH_ADMIN_TOKEN: '3',
        SVC_MESH_NODE_ID: '4',
      },
      origins: {
        SVC_MESH_TOKEN: meshEnvPath(first),
        SVC_MESH_WORKER_TOKEN: meshEnvPath(second),
        SVC_MESH_ADMIN_TOKEN: meshEnvPath(root),
        SVC_MESH_NODE_ID: meshEnvPath(home),
      },
      shadowed: [],
      warnings: [],
    })
  })

  it('returns nothing if no file exists', async (test) => {
    const root = await folderWith(test, undefined)
    await writeFiles(root, {'.svc': 'a file where a folder belongs'})
    assert.deepEqual(read(root, {HOME: join(root, 'nowhere'), SVC_REPO_ROOT: ' '}), {
      values: {},
      origins: {},
      shadowed: [],
      warnings: [],
    })
  })

  const faults: readonly [what: string, text: string, message: RegExp][] = [
    [
      'a variable of another subject',
      'PATH=/canary\n',
      /mesh\.env:1: PATH is ignored; only SVC_MESH_ variables can be set here\.$/,
    ],
    [
      'a line that is not an assignment',
      'SVC_MESH_TOKEN=a\ncanary canary\n',
      /mesh\.env:2: the line is ignored because it is not NAME=value\.$/,
    ],
    [
      'a misspelt variable',
      '#\n\nSVC_MESH_TOKN=canary\n',
      /mesh\.env:3: unknown variable SVC_MESH_TOKN\. Did you mean SVC_MESH_TOKEN\?$/,
    ],
  ]
  for (const [what, text, message] of faults)
    it(`warns about ${what} without printing its value`, async (test) => {
      const found = read(await folderWith(test, text))
      assert.equal(found.warnings.length, 1)
      assert.match(messagesOf(found)[0] ?? '', message)
      assert.doesNotMatch(JSON.stringify(found), /canary/)
    })

  it('ignores a file that others can read or write, with a warning', async (test) => {
    for (const [mode, exposed] of [
      [0o600, false],
      [0o400, false],
      [0o640, true],
      [0o604, true],
      [0o620, true],
      [0o602, true],
    ] as const) {
      const folder = await folderWith(test, 'SVC_MESH_TOKEN=a\n', mode)
      for (const found of [read(folder), read(await temporaryFolder(test), {HOME: folder})]) {
        assert.equal(found.values.SVC_MESH_TOKEN, exposed ? undefined : 'a', mode.toString(8))
        assert.deepEqual(
          found.warnings.map(({code}) => code),
          exposed ? ['env_file_exposed'] : [],
        )
        if (exposed) assert.match(messagesOf(found)[0] ?? '', /mesh\.env is ignored: others can read .* chmod 600\.$/)
      }
    }
  })

  it('ignores a file of another user, with a warning', async (test) => {
    const folder = await folderWith(test, getuid?.() === 0 ? 'SVC_MESH_TOKEN=a\n' : undefined)
    if (getuid?.() === 0) await chown(join(folder, file), 65_534, 65_534)
    else {
      await mkdir(join(folder, '.svc/mesh'), {recursive: true})
      await symlink('/etc/hosts', join(folder, file))
    }
    const found = read(folder)
    assert.deepEqual(found.values, {})
    assert.match(messagesOf(found).join(), /mesh\.env is ignored: it belongs to another user\.$/)
  })

  it('treats quoted white space as not set', async (test) => {
    const home = await folderWith(test, 'SVC_MESH_TOKEN=of-home\n')
    const root = await folderWith(test, 'SVC_MESH_TOKEN="  "\n')
    assert.equal(read(root, {HOME: home}).values.SVC_MESH_TOKEN, 'of-home')
  })

  it('reads SVC_MESH_ENABLED only from the file in the home folder', async (test) => {
    const enabled = await folderWith(test, 'SVC_MESH_ENABLED=1\nSVC_MESH_NODE_ID=n\n')
    for (const [root, env] of [
      [enabled, {}],
      [await temporaryFolder(test), {SVC_WORKSPACE_ROOT: enabled}],
      [await temporaryFolder(test), {SVC_REPO_ROOT: enabled}],
    ] as const) {
      const found = read(root, {...env, HOME: await temporaryFolder(test)})
      assert.deepEqual(found.values, {SVC_MESH_NODE_ID: 'n'})
      assert.match(
        messagesOf(found).join(),
        /mesh\.env:1: SVC_MESH_ENABLED is ignored; set it in the environment or in/,
      )
    }
    const link = join(await temporaryFolder(test), 'home')
    await symlink(enabled, link)
    for (const HOME of [enabled, link])
      for (const root of [enabled, await temporaryFolder(test)]) {
        const found = read(root, {HOME})
        assert.deepEqual([found.values.SVC_MESH_ENABLED, found.warnings], ['1', []])
      }
  })

  it('ignores a file that is too large, with a warning', async (test) => {
    const found = read(await folderWith(test, `SVC_MESH_TOKEN=a\n#${'x'.repeat(64 << 10)}`))
    assert.deepEqual(found.values, {})
    assert.match(messagesOf(found)[0] ?? '', /is ignored: it is larger than 65536 bytes\.$/)
  })

  it('ignores a folder or a pipe, with a warning', async (test) => {
    const folder = await folderWith(test, undefined)
    await mkdir(join(folder, file), {recursive: true})
    assert.match(messagesOf(read(folder))[0] ?? '', /is ignored: it is not a regular file\.$/)
    const pipe = await folderWith(test, undefined)
    await mkdir(join(pipe, '.svc/mesh'), {recursive: true})
    execFileSync('mkfifo', [join(pipe, file)])
    assert.match(messagesOf(read(pipe))[0] ?? '', /is ignored: it is not a regular file\.$/)
  })

  it('ignores an unreadable file, with a warning', async (test) => {
    const folder = await folderWith(test, undefined)
    await mkdir(join(folder, '.svc/mesh'), {recursive: true})
    await symlink('mesh.env', join(folder, file))
    const found = read(folder)
    assert.deepEqual(found.values, {})
    assert.match(messagesOf(found)[0] ?? '', /is ignored: it cannot be read \(ELOOP\)\.$/)
  })
})

describe('the secrets of a mesh.env', () => {
  const secrets = [
    'SVC_MESH_TOKEN',
    'SVC_MESH_WORKER_TOKEN',
    'SVC_MESH_SUBMITTER_TOKEN',
    'SVC_MESH_ADMIN_TOKEN',
    'SVC_MESH_JWT_HMAC_SECRET',
    'SVC_MESH_BOOTSTRAP_TOKEN',
  ]
  const ofUser = `${secrets.map((name) => `${name}=of-the-user\n`).join('')}SVC_MESH_NODE_ID=mine\n`
  const address = 'SVC_MESH_CONTROL_ADDR=http://stranger.example\n'
  const toml = {path: '/work/Svc.toml', data: {mesh: {control_url: 'http://stranger.example'}}, warnings: []}
  const userSecrets = ({values}: EnvFile) => secrets.filter((name) => values[name] === 'of-the-user')

  it('are not sent to a control plane named by a file of higher precedence', async (test) => {
    const home = await folderWith(test, ofUser)
    const stranger = await folderWith(test, `${address}SVC_MESH_WORKER_TOKEN=of-the-stranger\n`)
    for (const [root, env] of [
      [stranger, {}],
      [await temporaryFolder(test), {SVC_WORKSPACE_ROOT: stranger}],
      [await temporaryFolder(test), {SVC_REPO_ROOT: stranger}],
    ] as const) {
      const found = read(root, {...env, HOME: home})
      assert.deepEqual(found.values, {
        SVC_MESH_CONTROL_ADDR: 'http://stranger.example',
        SVC_MESH_WORKER_TOKEN: 'of-the-stranger',
        SVC_MESH_NODE_ID: 'mine',
      })
      assert.deepEqual(found.shadowed, [meshEnvPath(home)])
    }
  })

  it('are not sent to it if a file in between names no control plane', async (test) => {
    const stranger = await folderWith(test, address)
    const root = await folderWith(test, 'SVC_MESH_NODE_ID=between\n')
    const home = await folderWith(test, ofUser)
    const found = read(root, {SVC_WORKSPACE_ROOT: stranger, HOME: home})
    assert.deepEqual([userSecrets(found), found.shadowed], [[], [meshEnvPath(home)]])
  })

  it('are used with an address in the same file or in one of lower precedence', async (test) => {
    const home = await folderWith(test, `${ofUser}${address}`)
    assert.deepEqual(userSecrets(read(await temporaryFolder(test), {HOME: home})), secrets)
    const root = await folderWith(test, ofUser)
    const found = read(root, {HOME: await folderWith(test, `${address}SVC_MESH_ADMIN_TOKEN=x\n`)})
    assert.deepEqual([userSecrets(found), found.shadowed], [secrets, []])
  })

  it('are unaffected by an ignored file', async (test) => {
    const root = await folderWith(test, address, 0o644)
    const found = read(root, {HOME: await folderWith(test, ofUser)})
    assert.deepEqual([userSecrets(found), found.values.SVC_MESH_CONTROL_ADDR], [secrets, undefined])
  })

  it('of the user are not sent to a control plane named by the Svc.toml of a workspace', async (test) => {
    const root = await temporaryFolder(test)
    const home = await folderWith(test, ofUser)
    const found = readMeshEnv(root, {HOME: home}, settingTables, toml)
    assert.deepEqual([found.values, found.shadowed], [{SVC_MESH_NODE_ID: 'mine'}, [meshEnvPath(home)]])
    const others: readonly [root: string, env: Record<string, string>][] = [
      // The home folder as the workspace, and addresses of higher precedence.
      [home, {HOME: home}],
      [root, {HOME: home, SVC_MESH_CONTROL_ADDR: 'http://mine.example'}],
      [root, {HOME: await folderWith(test, `${ofUser}SVC_MESH_CONTROL_ADDR=http://mine.example\n`)}],
      // Secrets of the workspace itself.
      [await folderWith(test, ofUser), {HOME: await temporaryFolder(test)}],
    ]
    for (const [folder, env] of others)
      assert.deepEqual(userSecrets(readMeshEnv(folder, env, settingTables, toml)), secrets)
  })
})

describe('a variable of a mesh.env', () => {
  const envFile: EnvFile = {
    values: {SVC_MESH_SCOPE_ID: 'of-the-file', SVC_MESH_MAX_STALE_MS: 'soon'},
    origins: {SVC_MESH_SCOPE_ID: '/work/.svc/mesh/mesh.env', SVC_MESH_MAX_STALE_MS: '/work/.svc/mesh/mesh.env'},
    shadowed: [],
    warnings: [],
  }
  const toml = {path: '/work/Svc.toml', data: {mesh: {scope_id: 'of-toml'}}, warnings: []}
  const scope = (env: Record<string, string>) => {
    const {settings} = resolveSettings(meshSettings, {env, envFile, file: toml})
    return settings.find(({name}) => name === 'mesh.scope_id')
  }
  const inFile = {source: 'env-file', name: 'SVC_MESH_SCOPE_ID in /work/.svc/mesh/mesh.env'}
  const inToml = {source: 'file', name: 'mesh.scope_id', value: 'of-toml'}

  it('overrides Svc.toml, with the path of the file as its origin', () => {
    const found = scope({})
    assert.equal(found?.value, 'of-the-file')
    assert.deepEqual(found.origin, inFile)
    assert.deepEqual(found.overridden, [inToml])
  })

  it('is overridden by the environment, which can also clear it', () => {
    const set = scope({SVC_MESH_SCOPE_ID: 'of-the-environment'})
    assert.equal(set?.value, 'of-the-environment')
    assert.deepEqual(set.overridden, [{...inFile, value: 'of-the-file'}, inToml])
    assert.equal(scope({SVC_MESH_SCOPE_ID: ''})?.value, undefined)
  })

  it('is ignored if invalid, with a warning that names the file', () => {
    const {values, warnings} = resolveSettings(meshSettings, {env: {}, envFile})
    assert.equal(values.maxStaleMs, 0)
    assert.match(
      warnings[0]?.message ?? '',
      /^SVC_MESH_MAX_STALE_MS in \/work\/\.svc\/mesh\/mesh\.env must be a whole number .*, not "soon"; /,
    )
  })
})
