import assert from 'node:assert/strict'
import {once} from 'node:events'
import {chmod, mkdir, rm, stat, writeFile} from 'node:fs/promises'
import {request} from 'node:https'
import {connect} from 'node:net'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {packagesLoadedBy} from '../support/loads.js'
import {askMesh, startMeshServer} from '../support/mesh-server.js'
import {until} from '../support/orch-workspace.js'
import {createDatabase, skipWithoutPostgres} from '../support/postgres.js'
import {selfSigned} from '../support/self-signed.js'
import {svc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const record = (id: string) => ({id, version: '1', capabilities: {}})
const env = {SVC_MESH_TOKEN: 'token-of-the-mesh', SVC_MESH_WORKER_TOKEN: 'token-of-a-worker'}

describe('svc mesh serve', {timeout: 1_200_000}, () => {
  it('starts, accepts nodes, and exits with status 0', async (t) => {
    const server = await startMeshServer(t, {env, isAlone: true})
    assert.deepEqual(await contractViolations('cli/mesh-ready.v1', server.ready), [])
    assert.deepEqual([server.ready.auth, server.ready.db], ['tokens', server.db])
    assert.match(server.baseUrl, /^http:\/\/127\.0\.0\.1:\d+$/)
    const joined = await askMesh(server, '/v1/mesh/join', {token: env.SVC_MESH_WORKER_TOKEN, body: record('n-1')})
    assert.equal(joined.status, 200)
    assert.equal((await askMesh(server, '/v1/mesh/nodes')).status, 401)
    assert.equal(await server.stop(), 0)
    assert.match(server.stderr(), new RegExp(`^Listening on ${server.baseUrl}, database .*\\.\n$`))
  })

  it('keeps all data across restarts and crashes', async (t) => {
    const first = await startMeshServer(t, {env, isAlone: true})
    const {folder} = first
    const token = env.SVC_MESH_TOKEN
    await askMesh(first, '/v1/mesh/join', {token, body: record('n-1')})
    const claim = {scope_key: 'task:1', claimer_node_id: 'n-1'}
    const {body: lease} = await askMesh(first, '/v1/mesh/exec/lease/grant', {token, body: claim})
    const message = {sender_agent_id: '1', receiver_agent_id: '2', message_type: 'free_form', payload: 'hello'}
    await askMesh(first, '/v1/mesh/a2a/deliver', {token, body: message})
    await first.stop('SIGKILL')
    const second = await startMeshServer(t, {env, folder})
    const {body: leases} = await askMesh(second, '/v1/mesh/exec/leases', {token})
    assert.equal(leases.leases[0].lease_id, lease.lease_id)
    const {body: inbox} = await askMesh(second, '/v1/mesh/a2a/inbox', {
      token,
      body: {receiver_agent_id: '2', claimer_node_id: 'n-1'},
    })
    assert.equal(inbox.messages[0].payload, 'hello')
    assert.equal(await second.stop('SIGINT'), 0)
  })

  it('stores the mesh in the home folder by default', async (t) => {
    const home = await temporaryFolder(t)
    const server = await startMeshServer(t, {folder: home, db: '', env: {SVC_MESH_DB_PATH: 'elsewhere/mesh.db'}})
    assert.equal(server.ready.db, join(home, 'elsewhere/mesh.db'))
    const other = await startMeshServer(t, {folder: home, db: ''})
    assert.equal(other.ready.db, join(home, '.svc/mesh/mesh.db'))
    assert.equal((await stat(other.ready.db)).isFile(), true)
  })

  it('shares a PostgreSQL database with other control planes', {skip: skipWithoutPostgres}, async (t) => {
    const url = await createDatabase()
    const first = await startMeshServer(t, {env, args: ['--store', url]})
    assert.deepEqual(await contractViolations('cli/mesh-ready.v1', first.ready), [])
    assert.equal(first.ready.db, decodeURIComponent(url.replace(/^.*@/, '')))
    const second = await startMeshServer(t, {env: {...env, SVC_MESH_STORE_URL: url}, db: ''})
    assert.equal((await askMesh(second, '/health?ready=1')).text, 'ok\n')
    const token = env.SVC_MESH_TOKEN
    await askMesh(first, '/v1/mesh/join', {token, body: record('n-1')})
    assert.equal((await askMesh(second, '/v1/mesh/nodes', {token})).body.nodes[0].id, 'n-1')
    const file = await startMeshServer(t, {env: {...env, SVC_MESH_STORE_URL: url}})
    assert.match(file.ready.db, /mesh\.db$/)
  })

  it('answers long polls and finishes requests on SIGTERM', async (t) => {
    const server = await startMeshServer(t, {env, isAlone: true})
    const token = env.SVC_MESH_TOKEN
    await askMesh(server, '/v1/mesh/join', {token, body: record('n-1')})
    const claim = {receiver_agent_id: '2', claimer_node_id: 'n-1', wait_ms: 30_000}
    const poll = askMesh(server, '/v1/mesh/a2a/inbox', {token, body: claim})
    const isWaiting = async () => (await askMesh(server, '/metrics', {token})).text.includes('svc_mesh_long_polls 1\n')
    await until(isWaiting, 'the request waits')
    const held = connect(Number(new URL(server.baseUrl).port), '127.0.0.1')
    const body = JSON.stringify({id: 'n-1'})
    held.write(
      `POST /v1/mesh/heartbeat HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
    )
    await once(held, 'data')
    const stopped = server.stop()
    assert.deepEqual((await poll).body, {messages: []})
    assert.equal((await askMesh(server, '/health?ready=1')).status, 503)
    const answered = once(held, 'data')
    held.write(body)
    assert.match(String(await answered), /^HTTP\/1\.1 200 OK/)
    assert.equal(await stopped, 0)
  })

  it('loads only the driver of its database', {skip: skipWithoutPostgres}, async (t) => {
    const url = await createDatabase()
    for (const [args, loaded, other] of [
      [[], 'better-sqlite3', 'pg'],
      [['--store', url], 'pg', 'better-sqlite3'],
    ] as const) {
      const packages = await packagesLoadedBy(await temporaryFolder(t), async (coverage) => {
        const server = await startMeshServer(t, {env: {...env, ...coverage}, args, isAlone: true})
        assert.equal((await askMesh(server, '/health?ready=1')).text, 'ok\n')
        assert.equal(await server.stop(), 0)
        // Neither of Node.js nor of a driver.
        assert.doesNotMatch(server.stderr(), /Warning/)
      })
      assert.deepEqual([packages.has(loaded), packages.has(other)], [true, false], [...packages].join(' '))
    }
  })

  it('does not accept a password in --store, and never prints one', async (t) => {
    const folder = await temporaryFolder(t)
    const serve = (args: string[], variables = {}) =>
      svcInTurn(['mesh', 'serve', '--port', '0', ...args], {cwd: folder, env: {HOME: folder, ...variables}})
    const refused: readonly [args: string[], variables: object, status: number, code: RegExp][] = [
      [['--store', 'postgres://u:secret-word@127.0.0.1:1/db'], {}, 2, /store_password_exposed/],
      [['--store', 'postgres://127.0.0.1:1/db?password=secret-word'], {}, 2, /store_password_exposed/],
      [['--store', 'postgres://u@127.0.0.1:1/db', '--db', 'mesh.db'], {}, 2, /--db/],
      [[], {SVC_MESH_STORE_URL: 'mysql://u:secret-word@127.0.0.1/db'}, 2, /store_url_invalid/],
      [[], {SVC_MESH_STORE_URL: 'postgres://u:secret-word@127.0.0.1:1/db'}, 5, /127\.0\.0\.1:1\/db.*store_unreachable/],
    ]
    for (const [args, variables, status, code] of refused) {
      const {exitCode, stdout, stderr} = await serve(args, variables)
      assert.equal(exitCode, status, stderr)
      assert.match(stderr, code)
      assert.doesNotMatch(stdout + stderr, /secret-word/)
    }
  })

  it('warns if it requires no token', async (t) => {
    const server = await startMeshServer(t)
    assert.equal(server.ready.auth, 'open')
    await server.hasTold('`svc mesh init`.\n')
    assert.match(server.stderr(), /^warning: /)
    assert.equal((await askMesh(server, '/v1/mesh/nodes')).status, 200)
  })

  it('accepts other machines only with secrets or with --insecure', async (t) => {
    const folder = await temporaryFolder(t)
    const args = ['mesh', 'serve', '--host', '0.0.0.0', '--port', '0', '--db', join(folder, 'mesh.db'), '--json']
    const refused = await svcInTurn(args, {cwd: folder, env: {HOME: folder}})
    assert.equal(refused.exitCode, 2)
    assert.equal(JSON.parse(refused.stdout).error.code, 'mesh_unprotected')
    const server = await startMeshServer(t, {args: ['--host', '0.0.0.0', '--insecure']})
    const at = {baseUrl: server.baseUrl.replace('0.0.0.0', '127.0.0.1')}
    assert.equal((await askMesh(at, '/v1/mesh/nodes')).status, 200)
    const guarded = await startMeshServer(t, {args: ['--host', '0.0.0.0'], env})
    assert.match(guarded.stderr(), /warning: Connections to 0\.0\.0\.0 are not encrypted\./)
  })

  for (const [why, given, code] of [
    ['two roles share a token', {...env, SVC_MESH_ADMIN_TOKEN: env.SVC_MESH_TOKEN}, 'mesh_tokens_equal'],
    ['the JWT key is too short', {SVC_MESH_JWT_HMAC_SECRET: 'tiny-key'}, 'mesh_secret_weak'],
    ['a token is too short', {...env, SVC_MESH_ADMIN_TOKEN: 'tiny-token-of-a'}, 'mesh_secret_weak'],
  ] as const)
    it(`does not start if ${why}, and does not print the secret`, async (t) => {
      const folder = await temporaryFolder(t)
      const result = await svcInTurn(['mesh', 'serve', '--port', '0', '--json'], {
        cwd: folder,
        env: {HOME: folder, ...given},
      })
      assert.equal(result.exitCode, 2)
      assert.equal(JSON.parse(result.stdout).error.code, code)
      for (const secret of Object.values(given)) assert.ok(!`${result.stdout}${result.stderr}`.includes(secret))
    })

  it('does not start twice with one database', async (t) => {
    const server = await startMeshServer(t, {env})
    const args = ['mesh', 'serve', '--port', '0', '--db', server.db, '--json']
    const second = await svcInTurn(args, {cwd: server.folder, env: {HOME: server.folder, ...env}})
    assert.equal(second.exitCode, 5)
    assert.equal(JSON.parse(second.stdout).error.code, 'store_busy')
  })

  it('does not start on a port that is in use', async (t) => {
    const server = await startMeshServer(t, {env})
    const folder = await temporaryFolder(t)
    const args = ['mesh', 'serve', '--port', new URL(server.baseUrl).port, '--db', join(folder, 'mesh.db'), '--json']
    const second = await svcInTurn(args, {cwd: folder, env: {HOME: folder, ...env}})
    assert.deepEqual([second.exitCode, JSON.parse(second.stdout).error.code], [5, 'port_in_use'])
  })

  it('reads scope, limits and rates from settings', async (t) => {
    const server = await startMeshServer(t, {
      env: {
        ...env,
        SVC_MESH_SCOPE_ID: 'scope-a1',
        SVC_MESH_HTTP_MAX_BODY_BYTES: '4096',
        SVC_MESH_HTTP_RATE_LIMIT: '1',
        SVC_MESH_HTTP_RATE_LIMIT_PER_SEC: '1',
        SVC_MESH_HTTP_RATE_LIMIT_BURST: '4',
        SVC_MESH_A2A_LEASE_MS: '5000',
      },
    })
    const token = env.SVC_MESH_TOKEN
    const join = (more: object) => askMesh(server, '/v1/mesh/join', {token, body: {...record('n-1'), ...more}})
    assert.equal((await join({})).body.code, 'scope_mismatch')
    assert.equal((await join({scope_id: 'scope-a1', ignored: 'x'.repeat(5000)})).status, 413)
    assert.equal((await join({scope_id: 'scope-a1'})).body.scope_id, 'scope-a1')
    const claim = {scope_key: 'task:1', claimer_node_id: 'n-1'}
    const {body: lease} = await askMesh(server, '/v1/mesh/exec/lease/grant', {token, body: claim})
    assert.equal(lease.expires_unix_ms - lease.server_time_unix_ms <= 5000, true)
    // More requests at once than the server admits in half a minute.
    const answers = await Promise.all(Array.from({length: 40}, () => join({scope_id: 'scope-a1'})))
    const limited = answers.find(({status}) => status === 429)
    assert.equal(limited?.headers.get('retry-after'), '1')
  })

  it('serves HTTPS with the configured certificate', async (t) => {
    const folder = await temporaryFolder(t)
    const {cert, key} = selfSigned()
    await writeFiles(folder, {
      'cert.pem': cert,
      'key.pem': key,
      'Svc.toml': '[mesh.transport]\ntls_cert_path = "cert.pem"\ntls_key_path = "key.pem"\n',
    })
    const server = await startMeshServer(t, {folder, env})
    assert.match(server.baseUrl, /^https:/)
    const status = await new Promise((resolve, reject) => {
      request(`${server.baseUrl}/health`, {ca: cert, agent: false}, ({statusCode}) => resolve(statusCode))
        .on('error', reject)
        .end()
    })
    assert.equal(status, 200)
    const nodes = (more: Record<string, string>) =>
      svc(['mesh', 'nodes', '--control-url', server.baseUrl], {env: {...env, HOME: folder, ...more}})
    const untrusted = await nodes({})
    assert.equal(untrusted.exitCode, 5)
    assert.match(
      untrusted.stderr,
      /The certificate of https:.* is not trusted: .*\n {2}hint: Set SVC_TLS_CA_FILE to .*\n$/,
    )
    assert.equal((await nodes({SVC_TLS_CA_FILE: join(folder, 'cert.pem')})).stdout, 'No nodes.\n')
    const broken = await nodes({SVC_TLS_CA_FILE: join(folder, 'Svc.toml')})
    assert.match(broken.stderr, /\(tls_ca_unusable\)/)
    assert.doesNotMatch(server.stderr(), /not encrypted/)
    await server.stop()
    for (const [toml, fault] of [
      ['[mesh.transport]\ntls_cert_path = "cert.pem"\n', 'tls_unusable'],
      ['[mesh.transport]\ntls_cert_path = "cert.pem"\ntls_key_path = "Svc.toml"\n', 'tls_unusable'],
      ['[mesh.transport]\ntls_cert_path = "cert.pem"\ntls_key_path = "none.pem"\n', 'file_not_found'],
    ] as const) {
      await writeFiles(folder, {'Svc.toml': toml})
      const {stdout} = await svcInTurn(['mesh', 'serve', '--port', '0', '--json'], {cwd: folder, env: {HOME: folder}})
      assert.equal(JSON.parse(stdout).error.code, fault, toml)
    }
  })

  it('grants a new node the role worker, or mesh with --bootstrap-grants mesh', async (t) => {
    const bootstrap = 'token-for-new-nodes'
    for (const grants of ['worker', 'mesh'] as const) {
      const server = await startMeshServer(t, {
        env: {...env, SVC_MESH_BOOTSTRAP_TOKEN: bootstrap},
        args: ['--bootstrap-grants', grants],
      })
      const exchange = () => askMesh(server, '/v1/mesh/bootstrap/exchange', {token: bootstrap, body: {}})
      const {body} = await exchange()
      assert.equal(body.mesh_token, grants === 'worker' ? env.SVC_MESH_WORKER_TOKEN : env.SVC_MESH_TOKEN)
      await server.stop()
      // A used token stays used after a restart.
      const again = await startMeshServer(t, {
        folder: server.folder,
        env: {...env, SVC_MESH_BOOTSTRAP_TOKEN: bootstrap},
      })
      const {status} = await askMesh(again, '/v1/mesh/bootstrap/exchange', {token: bootstrap, body: {}})
      assert.equal(status, 410)
      await again.stop()
    }
  })
})

describe('svc mesh serve with a file of secrets', {timeout: 1_200_000}, () => {
  async function writeSecrets(folder: string, text: string): Promise<string> {
    const path = join(folder, '.svc/mesh/mesh.env')
    await mkdir(join(folder, '.svc/mesh'), {recursive: true})
    await writeFile(path, text, {mode: 0o600})
    return path
  }

  it('reloads the secrets on SIGHUP without interrupting requests', async (t) => {
    const folder = await temporaryFolder(t)
    await writeSecrets(folder, 'SVC_MESH_TOKEN=token-of-the-mesh-before\n')
    const server = await startMeshServer(t, {folder})
    const list = async (token: string) => (await askMesh(server, '/v1/mesh/nodes', {token})).status
    assert.deepEqual([await list('token-of-the-mesh-before'), await list('token-of-the-mesh-after')], [200, 401])
    await writeSecrets(folder, 'SVC_MESH_TOKEN=token-of-the-mesh-after\n')
    server.signal('SIGHUP')
    await server.hasTold('The secrets were reloaded.')
    assert.deepEqual([await list('token-of-the-mesh-before'), await list('token-of-the-mesh-after')], [401, 200])
    assert.equal(await server.stop(), 0)
  })

  it('keeps the secrets and logs a warning if the file is broken, missing or invalid', async (t) => {
    const folder = await temporaryFolder(t)
    const good = 'SVC_MESH_TOKEN=token-that-stays\n'
    const path = await writeSecrets(folder, good)
    const server = await startMeshServer(t, {folder, isAlone: true})
    const status = async () => (await askMesh(server, '/v1/mesh/nodes', {token: 'token-that-stays'})).status
    const changes: readonly [() => Promise<unknown>, RegExp][] = [
      [
        () => writeSecrets(folder, 'SVC_MESH_TOKEN="token-that'),
        /Keeping the current secrets: \S+mesh\.env:1: the line is ignored because it is not NAME=value/,
      ],
      [() => rm(path), /Keeping the current secrets: there are no new ones\./],
      [
        () => writeSecrets(folder, 'SVC_MESH_TOKEN=same\nSVC_MESH_ADMIN_TOKEN=same\n'),
        /Keeping the current secrets: .* have the same value\./,
      ],
      [
        () => writeSecrets(folder, 'SVC_MESH_JWT_HMAC_SECRET=short\n'),
        /Keeping the current secrets: .* is shorter than 32 bytes\./,
      ],
    ]
    for (const [change, warning] of changes) {
      const before = server.stderr().length
      await change()
      server.signal('SIGHUP')
      await until(() => warning.test(server.stderr().slice(before)), `${warning} in the log`)
      assert.equal(await status(), 200)
    }
    assert.ok(!server.stderr().includes('token-that'))
    await writeSecrets(folder, good)
    server.signal('SIGHUP')
    await server.hasTold('The secrets were reloaded.')
    assert.equal(await status(), 200)
  })

  it('reloads secrets from a file with an unknown variable', async (t) => {
    const folder = await temporaryFolder(t)
    await writeSecrets(folder, 'SVC_MESH_TOKEN=token-of-the-mesh-before\n')
    const server = await startMeshServer(t, {folder})
    await writeSecrets(folder, 'SVC_MESH_TOKEN=token-of-the-mesh-after\nSVC_MESH_TOKN=x\n')
    server.signal('SIGHUP')
    await server.hasTold('unknown variable SVC_MESH_TOKN')
    await server.hasTold('The secrets were reloaded.')
    assert.equal((await askMesh(server, '/v1/mesh/nodes', {token: 'token-of-the-mesh-after'})).status, 200)
  })

  it('reloads secrets while another file is still unreadable', async (t) => {
    const folder = await temporaryFolder(t)
    const home = await temporaryFolder(t)
    await chmod(await writeSecrets(home, 'SVC_MESH_TOKEN=token-of-another-mesh\n'), 0o644)
    await writeSecrets(folder, 'SVC_MESH_TOKEN=token-of-the-mesh-before\n')
    const server = await startMeshServer(t, {folder, env: {HOME: home}})
    await writeSecrets(folder, 'SVC_MESH_TOKEN=token-of-the-mesh-after\n')
    server.signal('SIGHUP')
    await server.hasTold('The secrets were reloaded.')
    assert.equal((await askMesh(server, '/v1/mesh/nodes', {token: 'token-of-the-mesh-after'})).status, 200)
  })

  it('logs the reload even with --quiet', async (t) => {
    const folder = await temporaryFolder(t)
    const path = await writeSecrets(folder, 'SVC_MESH_TOKEN=token-of-the-mesh-before\n')
    const env = {SVC_LOG: 'info', SVC_LOG_FORMAT: 'json'}
    const server = await startMeshServer(t, {folder, env, args: ['--quiet']})
    await chmod(path, 0o644)
    server.signal('SIGHUP')
    await server.hasTold('chmod 600')
    await chmod(path, 0o600)
    await writeSecrets(folder, 'SVC_MESH_TOKEN=token-of-the-mesh-after\n')
    server.signal('SIGHUP')
    await server.hasTold('The secrets were reloaded.')
    const lines = server
      .stderr()
      .split('\n')
      .filter((line) => line.includes('secrets'))
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)).map(({level, target}) => [level, target]),
      [
        ['warn', 'mesh'],
        ['info', 'mesh'],
      ],
    )
    assert.match(lines[0] ?? '', /Keeping the current secrets: \S+mesh\.env is ignored: others can read or change it/)
  })

  it('does not start without authentication if secrets exist but are ignored', async (t) => {
    const exposed = await temporaryFolder(t)
    await chmod(await writeSecrets(exposed, 'SVC_MESH_TOKEN=token-of-the-mesh\n'), 0o644)
    const torn = await temporaryFolder(t)
    await writeSecrets(torn, 'SVC_MESH_TOKEN="token-of-the-mesh\n')
    const shadowed = await temporaryFolder(t)
    await writeSecrets(shadowed, 'SVC_MESH_CONTROL_ADDR=http://stranger.example\n')
    const home = await temporaryFolder(t)
    await writeSecrets(home, 'SVC_MESH_TOKEN=token-of-the-mesh\n')
    for (const [cwd, HOME, why] of [
      [exposed, exposed, /chmod 600/],
      [torn, torn, /mesh\.env:1: the line is ignored because it is not NAME=value/],
      [shadowed, home, /A file that overrides \S+mesh\.env sets the address of another control plane/],
    ] as const) {
      const {stdout, exitCode} = await svcInTurn(['mesh', 'serve', '--port', '0', '--json'], {cwd, env: {HOME}})
      assert.equal(exitCode, 2, stdout)
      const {error} = JSON.parse(stdout)
      assert.equal(error.code, 'mesh_secrets_ignored')
      assert.match(error.message, why)
    }
    const server = await startMeshServer(t, {folder: exposed, args: ['--insecure']})
    assert.equal(server.ready.auth, 'open')
  })
})
