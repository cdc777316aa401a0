import assert from 'node:assert/strict'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {mkdir, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join as path} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import type {MeshJoinV1, MeshNodesV1} from '../../src/contracts/index.js'
import {type NodeRecord, readLocalRegistry} from '../../src/mesh/index.js'
import {startMeshServer} from '../support/mesh-server.js'
import {meshTokens, meshWorkspace, suiteMeshServer} from '../support/mesh-workspace.js'
import {gpuList, pathWithNvidiaSmi} from '../support/nvidia-smi.js'
import {assertFits, jsonLines, until} from '../support/orch-workspace.js'
import {skipWithoutProgram} from '../support/programs.js'
import {startSvc} from '../support/svc.js'
import {temporaryFolder} from '../support/temporary.js'
import {svcOnTerminal} from '../support/terminal.js'

const asWorker = {SVC_MESH_WORKER_TOKEN: meshTokens.SVC_MESH_WORKER_TOKEN}

async function parseEvent(line: string): Promise<MeshJoinV1> {
  const event = JSON.parse(line) as MeshJoinV1
  await assertFits('cli/mesh-join.v1', event)
  return event
}

describe('svc mesh join', () => {
  const server = suiteMeshServer()

  it('joins with the facts of the machine, and stays listed when stopped', async (t) => {
    const {startInTurn, json, cwd} = await meshWorkspace(t, server(), asWorker)
    const joining = startInTurn(['mesh', 'join', '--labels', 'pool=train,fast', '--labels', 'pool=train', '--json'], {
      env: {SVC_MESH_ADVERTISE_GPU: '1', HOSTNAME: 'rig1'},
    })
    const joined = await parseEvent(await joining.line(1))
    const id = joined.node_id
    assert.match(id, /^node-[0-9a-f]{16}$/)
    assert.deepEqual(joined, {...joined, event: 'joined', control_url: server().baseUrl, scope_id: null})
    assert.equal(await readFile(path(cwd, '.svc', 'mesh', 'node-id'), 'utf8'), `${id}\n`)

    const nodes = async () => (await json<MeshNodesV1>('nodes', ['nodes'])).nodes
    const [node] = await nodes()
    assert.deepEqual(node?.capabilities?.labels, ['pool=train', 'fast'])
    const {capabilities, pool_id: pool} = node as unknown as {capabilities: Record<string, unknown>; pool_id: string}
    assert.deepEqual([capabilities.gpu_cuda, capabilities.hostname, pool], [true, 'rig1', 'train'])
    assert.ok(!('listen_addr' in (node ?? {})))
    assert.equal(await joining.end('SIGTERM'), 0)
    assert.deepEqual(joining.lines.length, 1)
    assert.deepEqual(
      (await nodes()).map((each) => each.id),
      [id],
    )
    assert.deepEqual(await json('leave', ['leave']), {node_id: id, left: true})
    assert.deepEqual(await nodes(), [])
  })

  const noScript = process.platform === 'win32' && 'The program is a shell script.'
  it('reports the GPUs that nvidia-smi lists', {skip: noScript}, async (t) => {
    const {text, json} = await meshWorkspace(t, server(), asWorker)
    const path = await pathWithNvidiaSmi(t, gpuList('8192, Default, 550.54.15'))
    await text(['join', '--once', '--node', 'rig-with-gpu'], {env: {PATH: path}})
    const {nodes} = await json<MeshNodesV1>('nodes', ['nodes'])
    const node = nodes.find(({id}) => id === 'rig-with-gpu') as unknown as NodeRecord
    assert.deepEqual([node.gpu_healthy_count, node.gpu_inventory_source], [1, 'probed'])
    await text(['leave', '--node', 'rig-with-gpu'])
  })

  it('leaves the mesh when stopped with --leave', async (t) => {
    const {start, json} = await meshWorkspace(t, server(), asWorker)
    const joining = start(['mesh', 'join', '--node', 'gone', '--leave'])
    assert.equal(await joining.line(1), `gone has joined ${server().baseUrl}`)
    assert.equal(await joining.end('SIGINT'), 0)
    assert.equal(joining.lines[1], 'gone has left')
    assert.deepEqual((await json<MeshNodesV1>('nodes', ['nodes'])).nodes, [])
  })

  it('joins and exits with --once', async (t) => {
    const {text, json, join} = await meshWorkspace(t, server(), asWorker)
    assert.equal(await join('one'), `one has joined ${server().baseUrl}\n`)
    const again = await json<MeshJoinV1>('join', ['join', '--once', '--node', 'one'])
    assert.deepEqual([again.event, again.node_id], ['joined', 'one'])
    assert.equal(await text(['leave', '--node', 'one']), 'left\n')
    assert.equal(await text(['leave', '--node', 'one']), 'not found\n')
    assert.deepEqual(await json('leave', ['leave', '--node', 'one']), {node_id: 'one', left: false})
  })

  it('exits with status 4 if it is refused', async (t) => {
    const {fails} = await meshWorkspace(t, server())
    const {SVC_MESH_SUBMITTER_TOKEN} = meshTokens
    const env = {SVC_MESH_TOKEN: SVC_MESH_SUBMITTER_TOKEN}
    await fails(['join', '--node', 'x'], 4, 'role_forbidden', {env})
    await fails(['join', '--node', 'x'], 4, 'mesh_denied', {env: {SVC_MESH_TOKEN: 'wrong'}})
  })

  it('retries until the control plane is reachable', async (t) => {
    const folder = await temporaryFolder(t)
    const first = await startMeshServer(t, {env: meshTokens, folder})
    const port = Number(new URL(first.baseUrl).port)
    await first.stop()
    const {startInTurn} = await meshWorkspace(t, first, asWorker)
    const joining = startInTurn(['mesh', 'join', '--node', 'patient', '--json'], {
      env: {SVC_MESH_HTTP_HEARTBEAT_SECS: '1'},
    })
    const failed = await parseEvent(await joining.line(1))
    assert.deepEqual([failed.event, 'code' in failed && failed.code], ['failed', 'unreachable'])
    await startMeshServer(t, {env: meshTokens, folder, port})
    let line = 1
    for (let event = failed; event.event !== 'joined'; ) event = await parseEvent(await joining.line(++line))
    assert.equal(await joining.end('SIGTERM'), 0)
  })

  it('requires a node to leave, and valid labels and ids', async (t) => {
    const {fails} = await meshWorkspace(t, server(), asWorker)
    await fails(['leave'], 2, 'usage')
    await fails(['join', '--once', '--leave'], 2, 'usage')
    assert.match(await fails(['join', '--once', '--labels', 'a\nb'], 2, 'flag_value'), /^--labels must be /)
    assert.match(await fails(['join', '--once', '--node', ' '], 2, 'flag_value'), /^--node must be /)
  })
})

/** Starts a scripted control plane that answers each path with a given status. */
async function scriptedServer(
  test: TestContext,
  answer: (path: string, count: number, authorization: string) => number,
) {
  const requests: {path: string; body: Record<string, unknown>}[] = []
  const server = createServer(async (request, response) => {
    const path = request.url?.replace('/v1/mesh/', '') ?? ''
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    requests.push({path, body})
    const count = requests.filter((each) => each.path === path).length
    const status = answer(path, count, request.headers.authorization ?? '')
    response.writeHead(status, {'content-type': 'application/json'})
    response.end(status === 204 ? undefined : JSON.stringify({...body, next_heartbeat_ms: 100}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests}
}

describe('svc mesh join, as a member', () => {
  it('sends heartbeats with the load of the machine, and rejoins if it is no longer listed', async (t) => {
    const server = await scriptedServer(t, (path, count) => (path === 'heartbeat' && count === 3 ? 404 : 200))
    const {startInTurn} = await meshWorkspace(t, server, {})
    const joining = startInTurn(['mesh', 'join', '--node', 'n', '--json'])
    const events = [1, 2, 3].map((line) => joining.line(line).then(parseEvent))
    assert.deepEqual(
      (await Promise.all(events)).map(({event}) => event),
      ['joined', 'rejoining', 'joined'],
    )
    assert.equal(await joining.end('SIGTERM'), 0)
    const [joined, beat] = server.requests
    assert.deepEqual([joined?.path, beat?.path], ['join', 'heartbeat'])
    const {id, incarnation, seq, memory_free_bytes: memory, cpu_usage_pct: usage, ...more} = beat?.body ?? {}
    assert.deepEqual([id, incarnation, seq, more], ['n', joined?.body.incarnation, 1, {}])
    assert.ok(Number(memory) > 0)
    assert.ok(Number(usage) >= 0 && Number(usage) <= 100)
  })

  it('uses new tokens when the old ones are refused', async (t) => {
    let token = 'canary-of-the-first-days'
    const server = await scriptedServer(t, (_path, _count, authorization) =>
      authorization === `Bearer ${token}` ? 200 : 401,
    )
    const {startInTurn, cwd} = await meshWorkspace(t, undefined, {})
    const file = path(cwd, '.svc', 'mesh', 'mesh.env')
    const keep = () =>
      writeFile(file, `SVC_MESH_CONTROL_ADDR=${server.baseUrl}\nSVC_MESH_WORKER_TOKEN=${token}\n`, {mode: 0o600})
    await mkdir(path(cwd, '.svc', 'mesh'), {recursive: true})
    await keep()
    const joining = startInTurn(['mesh', 'join', '--node', 'n', '--json'])
    assert.equal((await parseEvent(await joining.line(1))).event, 'joined')
    token = 'canary-of-later-days'
    let line = 1
    assert.equal((await parseEvent(await joining.line(++line))).event, 'failed')
    await keep()
    const known = server.requests.length
    const isKnownAgain = () => joining.lines.some((each, i) => i > 0 && each.includes('"joined"'))
    await until(() => isKnownAgain() || server.requests.length > known + 8, 'a heartbeat')
    assert.equal(await joining.end('SIGTERM'), 0)
    const failures = joining.lines.filter((each) => each.includes('"failed"')).length
    assert.ok(failures <= 4, joining.lines.join('\n'))
    assert.doesNotMatch(joining.lines.join() + joining.stderr(), /canary/)
  })

  it('exits soon with an error if leaving fails', async (t) => {
    const server = await startMeshServer(t, {env: meshTokens})
    const {startInTurn} = await meshWorkspace(t, server, asWorker)
    const joining = startInTurn(['mesh', 'join', '--node', 'kept', '--leave'])
    await joining.line(1)
    server.signal('SIGSTOP')
    const from = performance.now()
    assert.equal(await joining.end('SIGTERM'), 5, joining.stderr())
    assert.ok(performance.now() - from < 60_000)
    assert.match(joining.stderr(), /\(timeout\)/)
    assert.equal(joining.lines.length, 1)
  })

  it('does not leave a mesh that it has not joined', async (t) => {
    const server = await scriptedServer(t, () => 503)
    const {startInTurn} = await meshWorkspace(t, server, {})
    const joining = startInTurn(['mesh', 'join', '--node', 'early', '--leave'])
    await joining.says(/^warning: /m)
    assert.equal(await joining.end('SIGTERM'), 0)
    assert.ok(server.requests.every(({path}) => path === 'join'))
  })

  it('exits with status 4 if a newer process has replaced it', async (t) => {
    const server = await scriptedServer(t, (path) => (path === 'heartbeat' ? 409 : 200))
    const {startInTurn} = await meshWorkspace(t, server, {})
    const joining = startInTurn(['mesh', 'join', '--node', 'twin', '--leave'])
    assert.equal(await joining.end(), 4)
    assert.match(joining.stderr(), /\(mesh_denied\)/)
    assert.deepEqual(
      server.requests.map(({path}) => path),
      ['join', 'heartbeat'],
      'it does not remove the node of the newer process',
    )
  })

  it('reports each error and continues', async (t) => {
    const server = await scriptedServer(t, (path, count) => (path === 'heartbeat' && count === 1 ? 503 : 200))
    const {startInTurn} = await meshWorkspace(t, server, {})
    const joining = startInTurn(['mesh', 'join', '--node', 'n'])
    await joining.says(/^warning: The control plane responded to heartbeat with status 503.* Retrying in 1 s\.$/m)
    await until(() => server.requests.length > 2, 'another heartbeat')
    assert.equal(await joining.end('SIGTERM'), 0)
  })
})

describe('svc mesh join --work', () => {
  const server = suiteMeshServer()
  const tokens = {...asWorker, SVC_MESH_SUBMITTER_TOKEN: meshTokens.SVC_MESH_SUBMITTER_TOKEN}
  const asMesh = {env: {SVC_MESH_TOKEN: meshTokens.SVC_MESH_TOKEN}}

  it('runs the tasks of other machines with the templates of the workspace', async (t) => {
    const {startInTurn, text, json, join, cwd} = await meshWorkspace(t, server(), tokens)
    await writeFile(
      path(cwd, 'Svc.toml'),
      '[orchestrator.exec]\nenabled = true\ntemplates = {say = ["echo", "{word}"]}\n',
    )
    await join('parent')
    const lease = (await text(['leases', '--grant', 'task:u-1', '--node', 'parent'])).trim()
    const joining = startInTurn(['mesh', 'join', '--node', 'w', '--work', '--json'])
    const events = async (from: number, count: number) =>
      Promise.all(Array.from({length: count}, async (_, i) => parseEvent(await joining.line(from + i))))
    assert.deepEqual(
      (await events(1, 2)).map(({event}) => event),
      ['joined', 'working'],
    )
    const work = {task_description: 'x', processor: 'exec', template: 'say', params: {word: 'hello'}}
    const envelope = {
      idempotency_key: 'orch-remote-5-1',
      task_id: 5,
      task_uid: 'u-1',
      repository_id: 'r',
      exec_lease_id: lease,
      payload: JSON.stringify(work),
    }
    const message = ['--from', '9', '--to', '2', '--type', 'remote_task_envelope', JSON.stringify(envelope)]
    await json('deliver', ['deliver', ...message])
    const task = {event: 'task', node_id: 'w', task_id: 5, idempotency_key: 'orch-remote-5-1', error: null}
    assert.deepEqual(await events(3, 2), [
      {...task, state: 'started'},
      {...task, state: 'completed'},
    ])
    const inbox = await text(['inbox', '9', '--json'], asMesh)
    assert.match(inbox, /\\"success\\":true,\\"result\\":\\"hello\\"/)
    assert.equal(await joining.end('SIGTERM'), 0)
    assert.doesNotMatch(joining.lines.join() + joining.stderr() + inbox, /canary/)
  })

  it('runs a task that another workspace submits, and returns its files', async (t) => {
    const template = `["${process.execPath}", "-e", "require('fs').appendFileSync('a.txt', process.argv[1])", "{text}"]`
    const toml = `[orchestrator.exec]\nenabled = true\ntemplates = {append = ${template}}\n`
    const [parent, worker] = [await meshWorkspace(t, server(), tokens), await meshWorkspace(t, server(), tokens)]
    for (const {cwd} of [parent, worker]) await writeFile(path(cwd, 'Svc.toml'), toml)
    await writeFile(path(parent.cwd, 'a.txt'), 'one\n')
    const joining = worker.startInTurn(['mesh', 'join', '--node', 'far', '--work', '--json'])
    assert.equal((await parseEvent(await joining.line(2))).event, 'working')
    const env = {
      SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_EXPERIMENTAL: 'true',
      SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_RECEIVER_AGENT: '2',
    }
    const daemon = parent.startInTurn(['daemon', 'run', '--json'], {env})
    await daemon.line(1)
    const task = ['append', '--exec', 'append', '--param', 'text=two', '--file', 'a.txt:write']
    const submitting = parent.startInTurn(['orch', 'submit', ...task, '--wait', '--json'], {env})
    assert.equal(await submitting.end(), 0, submitting.stderr())
    const submitted = JSON.parse(submitting.lines.join('\n'))
    assert.deepEqual(
      [submitted.placement_reason, submitted.result.remote.worker_node_id],
      ['populi_remote_lease_hold', 'far'],
    )
    assert.equal(await readFile(path(parent.cwd, 'a.txt'), 'utf8'), 'one\ntwo')
    assert.equal(existsSync(path(worker.cwd, 'a.txt')), false)
    assert.equal(await daemon.end('SIGTERM'), 0)
    assert.equal(await joining.end('SIGTERM'), 0)
  })

  it('reports that another process of the machine works', async (t) => {
    const {startInTurn} = await meshWorkspace(t, server(), tokens)
    const first = startInTurn(['mesh', 'join', '--node', 'w1', '--work'])
    assert.equal(await first.line(2), 'w1 runs the tasks of agent 2')
    const second = startInTurn(['mesh', 'join', '--node', 'w2', '--work'])
    await second.says(/^Another process of this machine runs the tasks of other machines\. Waiting/m)
    assert.equal(await first.end('SIGTERM'), 0)
    assert.equal(await second.line(2), 'w2 runs the tasks of agent 2')
    assert.equal(await second.end('SIGTERM'), 0)
  })

  it('exits with status 2 if the poll interval is 0', async (t) => {
    const {fails} = await meshWorkspace(t, server(), tokens)
    const env = {SVC_ORCHESTRATOR_MESH_REMOTE_WORKER_POLL_INTERVAL_SECS: '0'}
    await fails(['join', '--node', 'w', '--work'], 2, 'usage', {env})
  })
})

describe('svc mesh join --bootstrap', () => {
  const env = {...meshTokens, SVC_MESH_SCOPE_ID: 'scope-a1'}
  const token = 'canary-token-that-works-once'

  it('exchanges a one-time token for permanent ones, and joins with them', async (t) => {
    const server = await startMeshServer(t, {env: {...env, SVC_MESH_BOOTSTRAP_TOKEN: token}})
    const {run, json, cwd, fails} = await meshWorkspace(t, undefined, {})
    const pairing = ['join', '--bootstrap', '--once', '--node', 'new', '--control-url', server.baseUrl]
    await fails([...pairing], 4, 'bootstrap_invalid', {env: {SVC_MESH_BOOTSTRAP_TOKEN: 'wrong'}})
    await fails(['nodes'], 2, 'mesh_address_missing')

    const {stdout, stderr, exitCode} = await run([...pairing, '--json'], {env: {SVC_MESH_BOOTSTRAP_TOKEN: token}})
    assert.equal(exitCode, 0, stderr)
    const [paired, joined] = jsonLines<MeshJoinV1>(stdout)
    for (const line of [paired, joined]) await assertFits('cli/mesh-join.v1', line)
    const file = path(cwd, '.svc', 'mesh', 'mesh.env')
    assert.deepEqual(paired, {event: 'paired', node_id: 'new', env_file: file, role: 'worker', scope_id: 'scope-a1'})
    assert.deepEqual(joined, {...joined, event: 'joined', node_id: 'new', scope_id: 'scope-a1'})
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const content = await readFile(file, 'utf8')
    assert.match(content, new RegExp(`^SVC_MESH_WORKER_TOKEN=${meshTokens.SVC_MESH_WORKER_TOKEN}$`, 'm'))
    assert.match(content, new RegExp(`^SVC_MESH_SUBMITTER_TOKEN=${meshTokens.SVC_MESH_SUBMITTER_TOKEN}$`, 'm'))
    assert.match(content, new RegExp(`^SVC_MESH_CONTROL_ADDR=${server.baseUrl}$`, 'm'))
    assert.doesNotMatch(content, new RegExp(`${meshTokens.SVC_MESH_TOKEN}$|ADMIN|${token}`, 'm'))
    assert.doesNotMatch(stdout + stderr, /canary/, 'nothing of them is printed')

    assert.deepEqual(
      (await json<MeshNodesV1>('nodes', ['nodes'])).nodes.map(({id}) => id),
      ['new'],
    )
    await json('deliver', ['deliver', '--from', '1', '--to', '2', '--type', 'free_form', 'hello'])
    await fails(['leases'], 4, 'mesh_token_missing')
    await fails([...pairing], 4, 'bootstrap_consumed', {env: {SVC_MESH_BOOTSTRAP_TOKEN: token}})
  })

  it('keeps the secrets of another mesh and the unused token without --force', async (t) => {
    const server = await startMeshServer(t, {env: {...env, SVC_MESH_BOOTSTRAP_TOKEN: token}})
    const {run, fails, cwd} = await meshWorkspace(t, undefined, {})
    const folder = path(cwd, '.svc', 'mesh')
    const file = path(folder, 'mesh.env')
    const pairing = ['join', '--bootstrap', '--once', '--node', 'new', '--control-url', server.baseUrl]
    const bootstrapEnv = {env: {SVC_MESH_BOOTSTRAP_TOKEN: token}}
    await mkdir(folder, {recursive: true})
    // Secrets of a control plane on this machine and of another one.
    for (const address of ['', 'SVC_MESH_CONTROL_ADDR=http://another.example\n']) {
      const text = `# mine\n${address}SVC_MESH_ADMIN_TOKEN=canary-of-another-mesh\nSVC_MESH_LABELS=pool=train\n`
      await writeFile(file, text, {mode: 0o600})
      await fails(pairing, 4, 'mesh_exists', bootstrapEnv)
      assert.equal(await readFile(file, 'utf8'), text)
    }
    const {exitCode, stderr} = await run([...pairing, '--force'], bootstrapEnv)
    assert.equal(exitCode, 0, stderr)
    const content = await readFile(file, 'utf8')
    assert.doesNotMatch(content, /ADMIN|another/)
    assert.match(content, new RegExp(`^# mine\nSVC_MESH_CONTROL_ADDR=${server.baseUrl}\nSVC_MESH_LABELS=`))
    assert.match(content, new RegExp(`^SVC_MESH_WORKER_TOKEN=${meshTokens.SVC_MESH_WORKER_TOKEN}$`, 'm'))
  })

  it('pairs again with the same control plane, and then uses only the new tokens', async (t) => {
    const server = await startMeshServer(t, {env: {...env, SVC_MESH_BOOTSTRAP_TOKEN: token}})
    const {run, cwd} = await meshWorkspace(t, undefined, {})
    const file = path(cwd, '.svc', 'mesh', 'mesh.env')
    await mkdir(path(cwd, '.svc', 'mesh'), {recursive: true})
    const old = ['SVC_MESH_TOKEN', 'SVC_MESH_SUBMITTER_TOKEN', 'SVC_MESH_ADMIN_TOKEN', 'SVC_MESH_JWT_HMAC_SECRET']
    const secrets = old.map((name) => `${name}=canary-which-counts-no-more-since-a-while\n`).join('')
    const text = `SVC_MESH_CONTROL_ADDR=${server.baseUrl}/\n${secrets}SVC_MESH_LABELS=pool=train\n`
    await writeFile(file, text, {mode: 0o600})
    const {exitCode, stderr} = await run(['join', '--bootstrap', '--once', '--node', 'again'], {
      env: {SVC_MESH_BOOTSTRAP_TOKEN: token},
    })
    assert.equal(exitCode, 0, stderr)
    const content = await readFile(file, 'utf8')
    assert.doesNotMatch(content, /no-more/)
    assert.match(content, /^SVC_MESH_LABELS=/m)
    assert.match(content, /^SVC_MESH_WORKER_TOKEN=/m)
  })

  it('does not use up the token if the environment would override the new ones', async (t) => {
    const server = await startMeshServer(t, {env: {...env, SVC_MESH_BOOTSTRAP_TOKEN: token}})
    const {run, fails} = await meshWorkspace(t, server, {})
    const pairing = ['join', '--bootstrap', '--once', '--node', 'new']
    const bootstrapEnv = {SVC_MESH_BOOTSTRAP_TOKEN: token}
    for (const name of ['SVC_MESH_TOKEN', 'SVC_MESH_WORKER_TOKEN', 'SVC_MESH_SUBMITTER_TOKEN']) {
      const stale = {env: {...bootstrapEnv, [name]: 'canary-of-the-environment'}}
      assert.match(await fails(pairing, 2, 'mesh_secrets_overruled', stale), new RegExp(`ignored: ${name} is set`))
    }
    const other = await temporaryFolder(t)
    await mkdir(path(other, '.svc', 'mesh'), {recursive: true})
    await writeFile(path(other, '.svc', 'mesh', 'mesh.env'), 'SVC_MESH_TOKEN=canary-of-a-file\n', {mode: 0o600})
    await fails(pairing, 2, 'mesh_secrets_overruled', {env: {...bootstrapEnv, SVC_WORKSPACE_ROOT: other}})
    const {exitCode, stderr} = await run(pairing, {
      env: {...bootstrapEnv, SVC_MESH_ADMIN_TOKEN: 'canary-of-an-administrator'},
    })
    assert.equal(exitCode, 0, stderr)
  })

  it('reads the token from standard input, and does not use it up if the file cannot be written', async (t) => {
    const server = await startMeshServer(t, {env: {...env, SVC_MESH_BOOTSTRAP_TOKEN: token}})
    const {run, fails, cwd} = await meshWorkspace(t, server, {})
    const pairing = ['join', '--bootstrap', '--once', '--node', 'piped']
    await fails(pairing, 2, 'usage')
    await writeFile(path(cwd, '.svc'), 'no folder')
    assert.equal((await run(pairing, {input: `${token}\n`})).exitCode, 1)
    await rm(path(cwd, '.svc'))
    const {exitCode, stderr, stdout} = await run(pairing, {input: `${token}\n`})
    assert.equal(exitCode, 0, stderr)
    assert.equal(stdout, `piped has joined ${server.baseUrl}\n`)
    assert.match(stderr, /was accepted with the role worker\. Its tokens are in /)
  })
})

describe('svc mesh join --bootstrap from a pipe without end', () => {
  it('reads no more than the maximum length of a token', async (t) => {
    const {cwd, env} = await meshWorkspace(t, {baseUrl: 'http://127.0.0.1:1'}, {})
    const joining = startSvc(['mesh', 'join', '--bootstrap', '--once', '--node', 'piped'], {cwd, env})
    joining.stdin?.on('error', () => undefined)
    const filling = setInterval(() => joining.stdin?.write('x'.repeat(1000)), 5)
    const {exitCode, stderr} = await joining.finally(() => clearInterval(filling))
    assert.equal(exitCode, 2, String(stderr))
    assert.match(String(stderr), /The first line of standard input contains no token/)
  })
})

describe('svc mesh join --bootstrap on a terminal', {
  skip: skipWithoutProgram('script'),
}, () => {
  const asking = async (t: TestContext) => {
    const token = 'canary-typed-token'
    const server = await startMeshServer(t, {env: {...meshTokens, SVC_MESH_BOOTSTRAP_TOKEN: token}})
    const {env, cwd} = await meshWorkspace(t, server, {})
    const terminal = svcOnTerminal(t, ['mesh', 'join', '--bootstrap', '--once', '--node', 'typed'], {cwd, env})
    await terminal.shows('Bootstrap token: ')
    return {terminal, token}
  }

  it('prompts for the token without echo', async (t) => {
    const {terminal, token} = await asking(t)
    terminal.type(`${token}\r`)
    const {exitCode, output} = await terminal.ended
    assert.equal(exitCode, 0, output)
    assert.match(output, /typed has joined/)
    assert.doesNotMatch(output, /canary/)
  })

  it('exits with status 130 on Ctrl-C', async (t) => {
    const {terminal} = await asking(t)
    terminal.type('half a tok\u0003')
    const {exitCode, output} = await terminal.ended
    assert.equal(exitCode, 130, output)
    assert.doesNotMatch(output, /half a tok/)
  })
})

describe('a process with SVC_MESH_ENABLED', () => {
  it('is listed in the registry of the machine', async (t) => {
    const {run, cwd} = await meshWorkspace(t, undefined, {SVC_MESH_CONTROL_ADDR: 'http://127.0.0.1:1'})
    const env = {SVC_MESH_ENABLED: '1', SVC_MESH_HTTP_RETRY_TRANSIENT: '0'}
    assert.equal((await run(['join', '--once', '--node', 'here'], {env})).exitCode, 5)
    const {nodes} = await readLocalRegistry(path(cwd, '.svc', 'cache', 'mesh', 'local-registry.json'))
    assert.deepEqual(
      nodes.map(({id}) => id),
      ['here'],
    )
  })
})
