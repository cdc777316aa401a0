import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {once} from 'node:events'
import {chmod, readFile, realpath, stat} from 'node:fs/promises'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {promisify} from 'node:util'
import {parseEnvLines} from '../../src/config/index.js'
import {type ConfigShowV1, contractViolations, type MeshInitV1} from '../../src/contracts/index.js'
import {freePort} from '../../src/net/index.js'
import {askMesh, startMeshServer} from '../support/mesh-server.js'
import {skipWithoutProgram} from '../support/programs.js'
import {type SvcResult, svc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const file = '.svc/mesh/mesh.env'
const roleTokens = ['SVC_MESH_TOKEN', 'SVC_MESH_WORKER_TOKEN', 'SVC_MESH_SUBMITTER_TOKEN', 'SVC_MESH_ADMIN_TOKEN']
const bootstrap = ['SVC_MESH_BOOTSTRAP_TOKEN', 'SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS']

const workspace = async (test: TestContext) => realpath(await temporaryFolder(test))

async function kept(cwd: string): Promise<Record<string, string>> {
  const text = await readFile(join(cwd, file), 'utf8')
  return Object.fromEntries(
    parseEnvLines(text).flatMap((line) => (line.kind === 'variable' ? [[line.name, line.value]] : [])),
  )
}

const init = (cwd: string, args: readonly string[] = [], env: Record<string, string> = {}) =>
  svcInTurn(['mesh', 'init', ...args], {cwd, env: {HOME: cwd, ...env}})

async function initJson(cwd: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const {stdout, stderr, exitCode} = await init(cwd, ['--json', ...args], env)
  assert.equal(exitCode, 0, stderr)
  const result = JSON.parse(stdout) as MeshInitV1
  assert.deepEqual(await contractViolations('cli/mesh-init.v1', result), [])
  return {result, stderr}
}

/** Asserts that the output contains no secret except the bootstrap token. */
function assertSilent({stdout, stderr}: Pick<SvcResult, 'stdout' | 'stderr'>, secrets: Record<string, string>): void {
  for (const [name, secret] of Object.entries(secrets))
    if (!bootstrap.includes(name)) assert.ok(!(stdout + stderr).includes(secret), name)
}

describe('svc mesh init', () => {
  it('writes a token per role and a bootstrap token, and prints only the bootstrap token', async (test) => {
    const cwd = await workspace(test)
    const before = Date.now()
    const {stdout, stderr, exitCode} = await svc(['mesh', 'init'], {cwd, env: {HOME: cwd}})
    assert.equal(exitCode, 0, stderr)
    const secrets = await kept(cwd)
    assert.deepEqual(Object.keys(secrets), [...roleTokens, ...bootstrap])
    const tokens = [...roleTokens, 'SVC_MESH_BOOTSTRAP_TOKEN'].map((name) => secrets[name] ?? '')
    for (const token of tokens) assert.match(token, /^[\w-]{43}$/)
    assert.equal(new Set(tokens).size, tokens.length)
    const end = Number(secrets.SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS)
    assert.ok(end >= before + 600_000 && end <= Date.now() + 600_000)
    assertSilent({stdout, stderr}, secrets)
    const [, ...rest] = stdout.split(secrets.SVC_MESH_BOOTSTRAP_TOKEN ?? '?')
    assert.equal(rest.length, 1)
    assert.ok(stdout.startsWith(`Wrote ${join(cwd, file)}:\n`))
    assert.match(
      stdout,
      /^ {2}SVC_MESH_BOOTSTRAP_TOKEN=\S+ svc mesh join --bootstrap --control-url http:\/\/127\.0\.0\.1:9847$/m,
    )
  })

  it('writes a file that only its user can read and that git ignores', {
    skip: skipWithoutProgram('git'),
  }, async (test) => {
    const cwd = await workspace(test)
    await promisify(execFile)('git', ['init', '--quiet'], {cwd})
    await initJson(cwd)
    assert.equal((await stat(join(cwd, file))).mode & 0o777, 0o600)
    const {stdout} = await promisify(execFile)('git', ['status', '--porcelain'], {cwd})
    assert.equal(stdout, '')
  })

  it('prints the same as JSON', async (test) => {
    const cwd = await workspace(test)
    const {result, stderr} = await initJson(cwd, ['--scope', ' lab ', '--jwt', '--bootstrap-minutes', '30'])
    const secrets = await kept(cwd)
    assert.deepEqual(result, {
      path: join(cwd, file),
      written: [...roleTokens, 'SVC_MESH_JWT_HMAC_SECRET', ...bootstrap, 'SVC_MESH_SCOPE_ID'],
      overruled: [],
      scope_id: 'lab',
      bootstrap_token: secrets.SVC_MESH_BOOTSTRAP_TOKEN,
      bootstrap_expires_unix_ms: Number(secrets.SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS),
      join_command: result.join_command,
    })
    assert.ok(result.bootstrap_expires_unix_ms > Date.now() + 29 * 60_000)
    assert.equal(secrets.SVC_MESH_SCOPE_ID, 'lab')
    assert.match(secrets.SVC_MESH_JWT_HMAC_SECRET ?? '', /^[\w-]{43}$/)
    const {SVC_MESH_SCOPE_ID: _, ...hidden} = secrets
    assertSilent({stdout: JSON.stringify(result), stderr}, hidden)
  })

  it('prints the configured control plane', async (test) => {
    const cwd = await workspace(test)
    await writeFiles(cwd, {'Svc.toml': '[mesh]\ncontrol_url = "https://mesh.example:443"\n'})
    const {result} = await initJson(cwd)
    assert.match(result.join_command, / --control-url https:\/\/mesh\.example$/)
  })

  it('prints an address that works for clients on this machine', async (test) => {
    const addresses: readonly (readonly [env: Record<string, string>, address: string])[] = [
      [{}, 'http://127.0.0.1:9847'],
      [{SVC_MESH_PORT: '9900'}, 'http://127.0.0.1:9900'],
      [{SVC_MESH_HOST: '0.0.0.0'}, 'http://127.0.0.1:9847'],
      [{SVC_MESH_HOST: '::'}, 'http://[::1]:9847'],
      [{SVC_MESH_HOST: '10.0.0.7'}, 'http://10.0.0.7:9847'],
      [{SVC_MESH_CONTROL_ADDR: 'http://0.0.0.0:9900'}, 'http://127.0.0.1:9900'],
      [{SVC_MESH_CONTROL_ADDR: 'http://rig1:9900', SVC_MESH_HOST: '0.0.0.0'}, 'http://rig1:9900'],
    ]
    for (const [env, address] of addresses) {
      const {result} = await initJson(await workspace(test), [], env)
      assert.equal(result.join_command.split(' --control-url ')[1]?.replaceAll("'", ''), address, JSON.stringify(env))
    }
  })

  it('prints the default address of svc mesh serve', async (test) => {
    const folder = await workspace(test)
    const env = {SVC_MESH_CONTROL_ADDR: `http://localhost:${await freePort()}`}
    const {result} = await initJson(folder, [], env)
    const [, address = ''] = result.join_command.split(' --control-url ')
    const server = await startMeshServer(test, {folder, env, port: 'configured'})
    assert.equal(server.baseUrl, address)
    const {status} = await askMesh({baseUrl: address}, '/health')
    assert.equal(status, 200)
    const {exitCode, stderr} = await svcInTurn(['mesh', 'nodes'], {cwd: folder, env: {HOME: folder, ...env}})
    assert.equal(exitCode, 0, stderr)
  })

  it('quotes any address for the shell', async (test) => {
    const cwd = await workspace(test)
    const address = "http://[::1]:9847/a;touch%20owned$(id)&'b"
    const {result, stderr} = await initJson(cwd, [], {SVC_MESH_CONTROL_ADDR: address})
    const script = `svc() { printf '%s\\n' "$SVC_MESH_BOOTSTRAP_TOKEN" "$@"; }\n${result.join_command}`
    const {stdout} = await promisify(execFile)('sh', ['-c', script], {cwd})
    assert.deepEqual(stdout.trimEnd().split('\n'), [
      result.bootstrap_token,
      ...['mesh', 'join', '--bootstrap', '--control-url', address],
    ])
    assert.match(
      stderr,
      /^warning: other machines cannot reach http:\/\/\[::1\]:9847\S+; replace it with the name of this machine/m,
    )
  })

  it('warns if other machines cannot reach the address', async (test) => {
    for (const [address, said] of [
      ['http://127.0.0.1:9847', 1],
      ['http://localhost:9847', 1],
      ['http://10.0.0.1:9847', 0],
    ] as const) {
      const {stderr} = await initJson(await workspace(test), [], {SVC_MESH_CONTROL_ADDR: address})
      assert.equal(stderr.split('other machines cannot reach').length - 1, said, address)
    }
  })

  it('refuses a file that other users can write', async (test) => {
    const cwd = await workspace(test)
    await writeFiles(cwd, {[file]: 'SVC_MESH_CONTROL_ADDR=http://stranger.example\n'})
    await chmod(join(cwd, file), 0o644)
    for (const args of [[], ['--force']]) {
      const {stderr, exitCode} = await init(cwd, args)
      assert.equal(exitCode, 1, stderr)
      assert.match(stderr, /mesh\.env: others can read or change it; restrict it with chmod 600\. /)
    }
    assert.equal((await stat(join(cwd, file))).mode & 0o777, 0o644)
  })

  it('creates one set of secrets if two processes run at once', async (test) => {
    const cwd = await workspace(test)
    const statuses = await Promise.all(
      [1, 2, 3].map(async () => (await svc(['mesh', 'init'], {cwd, env: {HOME: cwd}})).exitCode),
    )
    assert.deepEqual(statuses.sort(), [0, 4, 4])
    assert.equal(Object.keys(await kept(cwd)).length, roleTokens.length + bootstrap.length)
  })

  it('keeps existing secrets', async (test) => {
    const cwd = await workspace(test)
    await initJson(cwd)
    const before = await readFile(join(cwd, file), 'utf8')
    const {stdout, stderr, exitCode} = await init(cwd)
    assert.deepEqual([stdout, exitCode], ['', 4])
    assert.match(stderr, /mesh\.env already contains mesh secrets/)
    assert.equal(await readFile(join(cwd, file), 'utf8'), before)
  })

  it('replaces all secrets with --force, and keeps the rest of the file', async (test) => {
    const cwd = await workspace(test)
    await initJson(cwd, ['--jwt', '--scope', 'lab'])
    const old = await kept(cwd)
    const {result} = await initJson(cwd, ['--force'])
    const fresh = await kept(cwd)
    assert.deepEqual(Object.keys(fresh), Object.keys(old))
    for (const name of [...roleTokens, ...bootstrap, 'SVC_MESH_JWT_HMAC_SECRET'])
      assert.notEqual(fresh[name], old[name], name)
    assert.equal(fresh.SVC_MESH_SCOPE_ID, 'lab')
    assert.equal(result.scope_id, 'lab')
  })

  it('creates only a bootstrap token with --bootstrap', async (test) => {
    const cwd = await workspace(test)
    await initJson(cwd, ['--scope', 'lab'])
    const old = await kept(cwd)
    const {result} = await initJson(cwd, ['--bootstrap'])
    const fresh = await kept(cwd)
    assert.deepEqual(result.written, bootstrap)
    for (const name of Object.keys(old)) assert.equal(fresh[name] === old[name], !bootstrap.includes(name), name)
    assert.equal(result.bootstrap_token, fresh.SVC_MESH_BOOTSTRAP_TOKEN)
  })

  it('creates no bootstrap token without a worker token', async (test) => {
    const cwd = await workspace(test)
    assert.equal((await init(cwd, ['--bootstrap'])).exitCode, 5)
    await assert.rejects(stat(join(cwd, '.svc')))
    assert.equal((await init(cwd, ['--bootstrap'], {SVC_MESH_JWT_HMAC_SECRET: 'x'.repeat(32)})).exitCode, 5)
    const {result, stderr} = await initJson(cwd, ['--bootstrap'], {SVC_MESH_WORKER_TOKEN: 'of-the-environment'})
    assert.deepEqual(result.written, bootstrap)
    assert.doesNotMatch(stderr, /bootstrap-grants/)
  })

  it('creates a bootstrap token with full access if there is only a mesh token, with a warning', async (test) => {
    const cwd = await workspace(test)
    const {result, stderr} = await initJson(cwd, ['--bootstrap'], {SVC_MESH_TOKEN: 'of-the-environment'})
    assert.deepEqual(result.written, bootstrap)
    assert.match(stderr, /^warning: no worker token is set; .* `svc mesh serve --bootstrap-grants mesh`\.$/m)
  })

  it('warns about secrets that the environment overrides', async (test) => {
    const cwd = await workspace(test)
    const elsewhere = await workspace(test)
    await writeFiles(elsewhere, {[file]: 'SVC_MESH_ADMIN_TOKEN=of-another-folder\n'})
    await chmod(join(elsewhere, file), 0o600)
    const env = {SVC_MESH_TOKEN: 'of-the-environment', SVC_WORKSPACE_ROOT: elsewhere}
    const {result, stderr} = await initJson(cwd, [], env)
    assert.deepEqual(result.overruled, ['SVC_MESH_TOKEN', 'SVC_MESH_ADMIN_TOKEN'])
    assert.match(
      stderr,
      /a source with higher precedence than \S+mesh\.env sets SVC_MESH_TOKEN, SVC_MESH_ADMIN_TOKEN\./,
    )
  })

  const wrong: readonly (readonly string[])[] = [
    ['--bootstrap', '--force'],
    ['--bootstrap', '--jwt'],
    ['--bootstrap-minutes', '0'],
    ['--bootstrap-minutes', '1441'],
    ['--scope', ' '],
    ['--scope', 'two\nlines'],
  ]
  for (const args of wrong)
    it(`refuses ${JSON.stringify(args.join(' '))} and writes nothing`, async (test) => {
      const cwd = await workspace(test)
      assert.equal((await init(cwd, args)).exitCode, 2)
      await assert.rejects(stat(join(cwd, '.svc')))
    })
})

describe('the secrets of svc mesh init', () => {
  it('are listed by svc config show with their file but without their values', async (test) => {
    const cwd = await workspace(test)
    await initJson(cwd, ['--jwt', '--scope', 'lab'])
    const secrets = await kept(cwd)
    const shown = await svcInTurn(['config', 'show', '--json'], {cwd, env: {HOME: cwd, SVC_MESH_SCOPE_ID: 'mine'}})
    const config = JSON.parse(shown.stdout) as ConfigShowV1
    assert.deepEqual(await contractViolations('cli/config-show.v1', config), [])
    const path = join(cwd, file)
    const setting = (name: string) => config.settings.find((one) => one.name === name)
    for (const [name, variable] of [
      ['mesh.token', 'SVC_MESH_TOKEN'],
      ['mesh.worker_token', 'SVC_MESH_WORKER_TOKEN'],
      ['mesh.jwt_hmac_secret', 'SVC_MESH_JWT_HMAC_SECRET'],
    ] as const) {
      assert.equal(setting(name)?.value, '(set)')
      assert.deepEqual(setting(name)?.origin, {source: 'env-file', name: `${variable} in ${path}`})
    }
    assert.deepEqual(setting('mesh.scope_id')?.origin, {source: 'env', name: 'SVC_MESH_SCOPE_ID'})
    assert.deepEqual(setting('mesh.scope_id')?.overridden, [
      {source: 'env-file', name: `SVC_MESH_SCOPE_ID in ${path}`, value: 'lab'},
    ])
    const text = await svcInTurn(['config', 'show'], {cwd, env: {HOME: cwd}})
    assert.match(text.stdout, new RegExp(`^mesh\\.token +\\(set\\) +env-file SVC_MESH_TOKEN in ${path}$`, 'm'))
    const {SVC_MESH_SCOPE_ID: _, SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS: __, ...hidden} = secrets
    for (const secret of Object.values(hidden))
      for (const {stdout, stderr} of [shown, text]) assert.ok(!(stdout + stderr).includes(secret))
  })

  it('cause a warning in every command if other users can read them', async (test) => {
    const cwd = await workspace(test)
    await writeFiles(cwd, {[file]: 'SVC_MESH_TOKEN=canary-token\nSVC_MESH_TOKN=canary-typo\n'})
    const list = () => svcInTurn(['contracts', 'list'], {cwd, env: {HOME: cwd}})
    await chmod(join(cwd, file), 0o644)
    const open = await list()
    assert.equal(open.exitCode, 0)
    assert.match(open.stderr, /^warning: \S+mesh\.env is ignored: others can read or change it; .* chmod 600\.$/m)
    await chmod(join(cwd, file), 0o600)
    const {stderr} = await list()
    assert.match(stderr, /^warning: \S+mesh\.env:2: unknown variable SVC_MESH_TOKN\. Did you mean SVC_MESH_TOKEN\?$/m)
    assert.doesNotMatch(open.stderr + stderr, /canary/)
  })

  it('are not sent to a control plane that a folder of another user configures', async (test) => {
    const home = await workspace(test)
    await initJson(home)
    const shown: (string | undefined)[] = []
    const stranger = createServer(({headers}, response) => {
      shown.push(headers.authorization)
      response.writeHead(401).end()
    })
    stranger.listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    test.after(() => stranger.close())
    const address = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
    const ask = async (files: Record<string, string>, mode: number) => {
      const cwd = await workspace(test)
      await writeFiles(cwd, files)
      if (files[file] !== undefined) await chmod(join(cwd, file), mode)
      shown.length = 0
      return svcInTurn(['mesh', 'nodes'], {cwd, env: {HOME: home, SVC_MESH_HTTP_RETRY_TRANSIENT: '0'}})
    }
    const named = {[file]: `SVC_MESH_ENABLED=1\nSVC_MESH_CONTROL_ADDR=${address}\n`}
    assert.match((await ask(named, 0o644)).stderr, /\(mesh_address_missing\)/)
    assert.deepEqual(shown, [])
    assert.match((await ask(named, 0o600)).stderr, /SVC_MESH_ENABLED is ignored[\s\S]*\(mesh_token_missing\)/)
    assert.deepEqual(shown, [undefined])
    assert.match((await ask({'Svc.toml': `[mesh]\ncontrol_url = "${address}"\n`}, 0)).stderr, /\(mesh_token_missing\)/)
    assert.deepEqual(shown, [undefined])
  })
})
