import assert from 'node:assert/strict'
import {existsSync, readFileSync} from 'node:fs'
import {stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {assertFits, type OrchWorkspace, orchWorkspace, templates, until} from '../support/orch-workspace.js'
import type {SvcOptions} from '../support/svc.js'

interface Started {
  pid: number
  addr: string
  log: string
}

interface Status extends Started {
  running: true
  repository_id: string
  protocol: string
  started_at_ms: number
  server_version: string | null
  ending: boolean
}

const isRunning = (pid: number) => existsSync(`/proc/${pid}/environ`)
const skip = existsSync('/proc/self/environ') ? false : 'needs /proc'

/** Runs `svc daemon start`. The daemon is stopped at the end of the test. */
async function start(
  test: TestContext,
  {run}: Pick<OrchWorkspace, 'run'>,
  args: readonly string[] = ['--drain', '0'],
  options: SvcOptions = {},
): Promise<Started> {
  const {stdout, stderr, exitCode} = await run(['daemon', 'start', '--json', ...args], options)
  assert.equal(exitCode, 0, stderr)
  const started = JSON.parse(stdout) as Started
  await assertFits('cli/daemon-start.v1', started)
  test.after(() => {
    try {
      process.kill(started.pid, 'SIGKILL')
    } catch {
      // It has already exited.
    }
  })
  return started
}

const status = ({json}: OrchWorkspace, options?: SvcOptions) =>
  json<Status>('cli/daemon-status.v1', ['daemon', 'status'], options)
const stop = ({json}: OrchWorkspace) => json<{pid: number}>('cli/daemon-stop.v1', ['daemon', 'stop'])

/** Variables with the inference server of the mesh and of one process. */
const mesh = 'SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL'
const own = 'SVC_INFERENCE_URL'

/** Reads a variable of the environment of a running process. */
const variableOf = (pid: number, name: string) =>
  readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .find((line) => line.startsWith(`${name}=`))
    ?.slice(name.length + 1)

describe('svc daemon start, status and stop', {concurrency: 2}, () => {
  it('start a daemon that outlives the command, show it, and stop it', async (t) => {
    const workspace = await orchWorkspace(t)
    const {cwd, fails, text, submit, task} = workspace
    await fails(['daemon', 'status'], 3, 'daemon_not_running')
    await fails(['daemon', 'stop'], 3, 'daemon_not_running')
    await fails(['daemon', 'call', 'orch.ping'], 3, 'daemon_not_running')

    const {pid, addr, log} = await start(t, {run: workspace.alone})
    assert.match(addr, /^127\.0\.0\.1:\d+$/)
    assert.equal(log, join(cwd, '.svc/daemon.log'))
    const found = await status(workspace)
    assert.deepEqual([found.pid, found.addr, found.running], [pid, addr, true])
    assert.equal(
      found.server_version,
      JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version,
    )
    assert.match(
      await text(['daemon', 'status']),
      new RegExp(`^The daemon \\(pid ${pid}\\) has been running since .*, listening on ${addr}\\.\n$`),
    )
    for (const file of ['.svc/daemon.json', '.svc/daemon.log'])
      assert.equal((await stat(join(cwd, file))).mode & 0o777, 0o600, file)
    assert.equal((await workspace.status()).daemon?.pid, pid)
    assert.match(await fails(['daemon', 'start'], 4, 'daemon_running'), new RegExp(`pid ${pid} `))

    const id = await submit('say it', '--exec', 'say', '--param', 'word=x')
    await until(async () => (await task(id)).status === 'Completed', 'the end of the task')
    assert.equal((await stop(workspace)).pid, pid)
    assert.equal(existsSync(join(cwd, '.svc/daemon.json')), false)
    assert.match(readFileSync(log, 'utf8'), /Listening on .*\nRunning the tasks of .*\n[\s\S]*T-0001 completed/)
    await fails(['daemon', 'status'], 3, 'daemon_not_running')
    assert.equal((await workspace.status()).daemon, null)
  })

  it('show and stop a daemon that does not listen', async (t) => {
    const workspace = await orchWorkspace(t)
    const running = workspace.start(['daemon', 'run', '--listen', 'off', '--json'])
    const {pid, addr} = JSON.parse(await running.line(1))
    assert.equal(addr, undefined)
    const found = await status(workspace)
    assert.deepEqual([found.pid, found.addr, found.server_version], [pid, null, null])
    assert.match(await workspace.text(['daemon', 'status']), /, not listening\.\n$/)
    await workspace.fails(['daemon', 'call', 'orch.ping'], 4, 'daemon_silent')
    assert.equal((await stop(workspace)).pid, pid)
    assert.equal(await running.end(), 0)
  })

  it('ignore the file of a killed daemon', {skip}, async (t) => {
    const workspace = await orchWorkspace(t)
    const {cwd, fails} = workspace
    const killed = await start(t, workspace)
    process.kill(killed.pid, 'SIGKILL')
    await until(() => !isRunning(killed.pid), 'its end')
    const path = join(cwd, '.svc/daemon.json')
    assert.equal(JSON.parse(readFileSync(path, 'utf8')).pid, killed.pid)
    for (const verb of ['status', 'stop']) await fails(['daemon', verb], 3, 'daemon_not_running')

    // Its pid now belongs to an unrelated process.
    const left = JSON.parse(readFileSync(path, 'utf8'))
    await writeFile(path, JSON.stringify({...left, pid: process.pid}))
    for (const verb of ['status', 'stop']) await fails(['daemon', verb], 3, 'daemon_not_running')
    for (const rubbish of ['', '{', '[]', 'null', '{"pid":1}']) {
      await writeFile(path, rubbish)
      await fails(['daemon', 'status'], 3, 'daemon_not_running')
    }
    const next = await start(t, workspace)
    assert.equal((await status(workspace)).pid, next.pid)
    await stop(workspace)
  })

  it('keep the file of another daemon', {skip}, async (t) => {
    const workspace = await orchWorkspace(t)
    const {pid} = await start(t, workspace)
    assert.deepEqual(
      [variableOf(pid, mesh), variableOf(pid, own)],
      [undefined, undefined],
      'no inference server is set',
    )
    const path = join(workspace.cwd, '.svc/daemon.json')
    const foreign = {...JSON.parse(readFileSync(path, 'utf8')), pid: process.pid}
    await writeFile(path, JSON.stringify(foreign))
    process.kill(pid, 'SIGTERM')
    await until(() => !isRunning(pid), 'its end')
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), foreign)
  })

  it('report why a daemon does not start', async (t) => {
    const workspace = await orchWorkspace(t)
    const message = await workspace.fails(['daemon', 'start'], 1, 'daemon_died', {
      env: {SVC_ORCHESTRATOR_MIN_AGENTS: '200'},
    })
    assert.match(message, /status 2.*orchestrator_config_invalid/)
    await workspace.fails(['daemon', 'start', '--listen', 'stdio'], 2, 'usage')
    await workspace.fails(['daemon', 'start', '--listen', 'nowhere'], 2, 'daemon_address_invalid')
    const {stdout, exitCode} = await workspace.run(['daemon', 'start', '--listen', '0.0.0.0:0', '--json'])
    const {error} = JSON.parse(stdout) as {error: {code: string; message: string}}
    assert.deepEqual([error.code, exitCode], ['daemon_died', 1])
    assert.match(error.message, /daemon_exposed/)
  })

  it('start only one of two concurrent daemons', async (t) => {
    const workspace = await orchWorkspace(t)
    const outcomes = await Promise.all([1, 2].map(() => workspace.run(['daemon', 'start', '--json'])))
    const {pid} = await status(workspace)
    assert.deepEqual(outcomes.map(({exitCode}) => exitCode).sort(), [0, 4])
    assert.equal(outcomes.map(({stdout}) => JSON.parse(stdout)).find((one) => 'pid' in one)?.pid, pid)
    await stop(workspace)
  })

  it('pass the token on to the daemon and send it', async (t) => {
    const workspace = await orchWorkspace(t)
    const options = {env: {SVC_DAEMON_TOKEN: 'correct-horse-battery'}}
    await start(t, workspace, [], options)
    assert.notEqual((await status(workspace, options)).server_version, null)
    for (const env of [{}, {SVC_DAEMON_TOKEN: 'another-horse-battery'}])
      await workspace.fails(['daemon', 'status'], 4, 'daemon_token_refused', {env})
    // A user who may signal the process may stop it without the token.
    await stop(workspace)
  })

  it('pass the inference server of the mesh on to the daemon', {skip}, async (t) => {
    const url = 'http://127.0.0.1:11999'
    const cases: readonly [toml: string, env: Record<string, string>, mesh: string, own: string][] = [
      ['', {[mesh]: url}, url, url],
      [`[mesh]\ninference_base_url = "${url}/v1"\n`, {[own]: 'http://127.0.0.1:1'}, url, 'http://127.0.0.1:1'],
      [`[mesh]\ninference_base_url = "${url}"\n`, {[own]: ' '}, url, url],
    ]
    for (const [toml, env, meshValue, ownValue] of cases) {
      const workspace = await orchWorkspace(t, `${toml}${templates}`)
      const {pid} = await start(t, workspace, [], {env})
      assert.deepEqual([variableOf(pid, mesh), variableOf(pid, own)], [meshValue, ownValue], JSON.stringify(env))
      await stop(workspace)
    }
  })

  it('wait for the exit only until the timeout', async (t) => {
    const workspace = await orchWorkspace(t)
    await start(t, workspace, ['--drain', '60'])
    const id = await workspace.submit('a nap', '--exec', 'nap', '--param', 'seconds=15')
    await until(async () => (await workspace.task(id)).status === 'InProgress', 'the start of the task')
    const {stdout, exitCode} = await workspace.run(['daemon', 'stop', '--timeout', '0', '--json'])
    assert.equal(exitCode, 5)
    assert.equal(JSON.parse(stdout).error.code, 'daemon_stop_timeout')
    // The daemon is still running while it waits for the task.
    const isEnding = async () => /is shutting down/.test((await workspace.run(['daemon', 'status'])).stdout)
    await until(isEnding, 'the shutdown')
    assert.deepEqual([(await status(workspace)).ending, (await status(workspace)).addr], [true, null])
    assert.equal((await workspace.run(['daemon', 'start'])).exitCode, 4)
    assert.equal((await workspace.run(['daemon', 'stop'])).exitCode, 0)
    assert.equal((await workspace.task(id)).status, 'Completed')
  })
})

describe('svc daemon call', () => {
  it('prints the result of a method, and fails like the commands', async (t) => {
    const workspace = await orchWorkspace(t)
    const {json, fails, text, run} = workspace
    const {addr} = await start(t, workspace)
    const call = <T>(...args: string[]) => json<T>('cli/daemon-call.v1', ['daemon', 'call', ...args])
    const params = JSON.stringify({description: 'x', processor: 'external'})
    assert.equal((await call<{task_id: number}>('orch.submit_task', params)).task_id, 1)
    const {stdout} = await run(['daemon', 'call', 'orch.task_status', '-'], {input: '{"task_id": 1}'})
    assert.equal(JSON.parse(stdout).status, 'Queued')
    assert.match(await text(['daemon', 'call', 'ping']), /^\{"ok":true.*\}\n$/)

    await fails(['daemon', 'call', 'orch.task_status', '{"task_id":9}'], 3, 'task_not_found')
    await fails(['daemon', 'call', 'orch.complete_task', '{"task_id":1}'], 4, 'invalid_transition')
    await text(['orch', 'claim'])
    for (const method of ['orch.complete_task', 'orch.fail_task'])
      await fails(['daemon', 'call', method, '{"task_id":1}'], 4, 'claim_required')
    await text(['daemon', 'call', 'orch.complete_task', '{"task_id":1,"force":true}'])
    await fails(['daemon', 'call', 'orch.task_status', '{}'], 2, 'params_invalid')
    assert.match(
      await fails(['daemon', 'call', 'orch.tasks_status'], 3, 'method_unknown'),
      /Did you mean orch.task_status/,
    )
    for (const wrong of ['[1]', '7', '{', 'null']) await fails(['daemon', 'call', 'orch.ping', wrong], 2, 'usage')

    const elsewhere = {env: {SVC_ORCHESTRATOR_DAEMON_SOCKET: addr}}
    const other = await orchWorkspace(t)
    assert.equal(JSON.parse(await other.text(['daemon', 'call', 'orch.agent_ids'], elsewhere)).agent_ids.length, 1)
    await stop(workspace)
    await other.fails(['daemon', 'call', 'orch.ping'], 5, 'unreachable', elsewhere)
  })

  it('follows events from a given id', async (t) => {
    const workspace = await orchWorkspace(t)
    await start(t, workspace)
    await workspace.submit('first', '--processor', 'external')
    const following = workspace.startInTurn([
      'daemon',
      'call',
      'orch.events.subscribe',
      '{"types":["task_submitted"],"since_id":0}',
    ])
    const {subscription_id} = JSON.parse(await following.line(1))
    assert.equal(JSON.parse(await following.line(2)).event.kind.task_id, 1)
    await workspace.submit('second', '--processor', 'external')
    const line = JSON.parse(await following.line(3))
    assert.deepEqual([line.subscription_id, line.event.kind.task_id], [subscription_id, 2])
    assert.equal(await following.end('SIGINT'), 0)

    const left = workspace.startInTurn(['daemon', 'call', 'orch.events.subscribe', '{}'])
    await left.line(1)
    await stop(workspace)
    assert.equal(await left.end(), 5)
    assert.match(left.stderr(), /daemon_connection_lost/)
  })
})
