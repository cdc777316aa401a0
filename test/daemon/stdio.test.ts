import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {jsonLines, orchWorkspace, until} from '../support/orch-workspace.js'
import {svcBinary} from '../support/svc.js'
import {external, type Reply, startTestDaemon} from './support/daemon.js'

const request = (id: string, method: string, params: object = {}) => JSON.stringify({id, method, params})

describe('daemon over stdio', () => {
  it('answers all requests and exits at the end of the input', async (t) => {
    const {run, tasks} = await orchWorkspace(t)
    const input = [
      request('a', 'orch.ping'),
      request('b', 'orch.submit_task', external('x')),
      'rubbish',
      JSON.stringify({jsonrpc: '2.0', id: 3, method: 'orch.task_status', params: {task_id: 1}}),
      // The end of the input is not announced.
      request('last', 'orch.agent_ids'),
    ].join('\n')
    for (const flags of [[], ['--json']]) {
      const {stdout, stderr, exitCode} = await run(['daemon', 'run', '--listen', 'stdio', ...flags], {input})
      assert.equal(exitCode, 0, stderr)
      assert.deepEqual(
        jsonLines<Reply>(stdout).map(({id}) => id),
        ['a', 'b', '0', 3, 'last'],
      )
      assert.match(stderr, /Running the tasks of/)
    }
    assert.equal((await tasks()).length, 2)
  })

  it('exits immediately without input and leaves no files', async (t) => {
    const {run, cwd, status} = await orchWorkspace(t)
    const {stdout, exitCode} = await run(['daemon', 'run', '--listen', '-'], {input: ''})
    assert.deepEqual([stdout, exitCode], ['', 0])
    assert.equal(existsSync(join(cwd, '.svc/daemon.json')), false)
    assert.equal((await status()).daemon, null)
  })

  it('runs tasks while it answers requests', async (t) => {
    const {cwd} = await orchWorkspace(t)
    const child = spawn(process.execPath, [svcBinary, 'daemon', 'run'], {
      cwd,
      env: {PATH: process.env.PATH, SVC_ORCHESTRATOR_DAEMON_SOCKET: 'StdIO'},
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    t.after(() => child.kill('SIGKILL'))
    const lines = createInterface({input: child.stdout})
    const ask = async (text: string) => {
      child.stdin.write(`${text}\n`)
      const [line] = (await once(lines, 'line', {signal: AbortSignal.timeout(60_000)})) as [string]
      return (JSON.parse(line) as Reply).payload?.value as {status: string; task_id: number}
    }
    const say = {description: 'say it', processor: 'exec', exec: {template: 'say', params: {word: 'x'}}}
    const {task_id} = await ask(request('1', 'orch.submit_task', say))
    await until(async () => (await ask(request('2', 'orch.task_status', {task_id}))).status === 'Completed', 'the end')
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  it('answers while another daemon runs the tasks, and takes over when that one exits', async (t) => {
    const first = await startTestDaemon(t)
    const {workspace} = first
    const {cwd} = workspace
    const child = spawn(process.execPath, [svcBinary, 'daemon', 'run', '--listen', 'stdio'], {
      cwd,
      env: {PATH: process.env.PATH},
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    const lines: string[] = []
    createInterface({input: child.stdout}).on('line', (line) => lines.push(line))
    child.stdin.write(`${request('sub', 'orch.events.subscribe', {types: ['task_submitted', 'task_completed']})}\n`)
    await until(() => stderr.includes(`pid ${first.pid} on`), 'the notice')
    child.stdin.write(
      `${request('s', 'orch.submit_task', {description: 'say it', processor: 'exec', exec: {template: 'say', params: {word: 'x'}}})}\n`,
    )
    // The other process runs the task, and its events are delivered here.
    await until(() => lines.length === 4, 'the end of the task')
    assert.equal((await workspace.status()).daemon?.pid, first.pid)
    assert.equal(await first.end(), 0)
    await until(() => stderr.includes('Running the tasks of'), 'the turn of this one')
    assert.equal((await workspace.status()).daemon?.pid, child.pid)
    child.stdin.end()
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  it('waits for a slow reader without stopping its other work', async (t) => {
    const workspace = await orchWorkspace(t)
    const child = spawn(process.execPath, [svcBinary, 'daemon', 'run', '--listen', 'stdio'], {
      cwd: workspace.cwd,
      env: {PATH: process.env.PATH},
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    t.after(() => child.kill('SIGKILL'))
    child.stdout.pause()
    const count = 600
    for (let i = 0; i < count; i++) child.stdin.write(`${request(String(i), 'orch.methods')}\n`)
    await until(async () => (await workspace.status()).daemon !== null, 'the loop')
    const id = await workspace.submit('say it', '--exec', 'say', '--param', 'word=x')
    await until(async () => (await workspace.task(id)).status === 'Completed', 'the end of the task')
    child.stdin.end()
    let answered = 0
    for await (const line of createInterface({input: child.stdout}))
      assert.equal((JSON.parse(line) as Reply).id, String(answered++))
    assert.equal(answered, count)
    if (child.exitCode === null) await once(child, 'exit')
    assert.equal(child.exitCode, 0)
  })

  it('exits when its reader disconnects', async (t) => {
    const {cwd} = await orchWorkspace(t)
    const child = spawn(process.execPath, [svcBinary, 'daemon', 'run', '--listen', 'stdio'], {
      cwd,
      env: {PATH: process.env.PATH},
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    t.after(() => child.kill('SIGKILL'))
    child.stdin.on('error', () => undefined)
    child.stdin.write(`${request('1', 'orch.ping')}\n`)
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const exit = once(child, 'exit', {signal: AbortSignal.timeout(60_000)})
    for (let i = 0; i < 10; i++) {
      child.stdin.write(`${request('2', 'orch.ping')}\n`)
      await sleep(20)
    }
    assert.deepEqual(await exit, [0, null])
  })
})
