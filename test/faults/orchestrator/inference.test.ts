import assert from 'node:assert/strict'
import {createServer, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {type Answer, answerLines, scriptedInference} from '../../support/scripted-inference.js'
import {svcInTurn} from '../../support/svc-in-turn.js'
import {until, untilReached} from '../../support/until.js'
import {readStore} from './evidence.js'
import {startDaemon, startDaemonInTurn, temporaryWorkspace} from './process.js'
import {workspaceEnv} from './workspace.js'

interface ShownTask {
  id: number
  status: string
  status_reason?: string
  retry_count: number
  result?: {text: string}
}

const workspace = (test: TestContext, url: string, settings = '') =>
  temporaryWorkspace(test, `[orchestrator]\n${settings}\n[mesh]\ninference_base_url = "${url}"\n`)

async function submit(root: string, ...descriptions: string[]): Promise<void> {
  const lines = descriptions.map((description) => `${JSON.stringify({description})}\n`)
  const {exitCode, stderr} = await svcInTurn(['orch', 'submit', '--batch', '-'], {
    cwd: root,
    env: workspaceEnv,
    input: lines.join(''),
  })
  assert.equal(exitCode, 0, stderr)
}

/** The output of `svc orch tasks` once all tasks have ended, oldest first. */
async function shownAtEnd(root: string): Promise<ShownTask[]> {
  const open = () =>
    readStore(root, (database) =>
      database.prepare("SELECT id, status FROM orch_tasks WHERE status NOT IN ('Completed', 'Failed')").all(),
    )
  await until(
    () => open().length === 0,
    () => `these have not ended: ${JSON.stringify(open())}`,
  )
  const {stdout} = await svcInTurn(['orch', 'tasks', '--json'], {cwd: root, env: workspaceEnv})
  return (JSON.parse(stdout) as {tasks: ShownTask[]}).tasks.reverse()
}

/** The only task, once it has ended. */
async function taskAtEnd(root: string): Promise<ShownTask> {
  const [task] = await shownAtEnd(root)
  return task as ShownTask
}

const line = (value: unknown) => `${JSON.stringify(value)}\n`
const first = line({response: 'Sev', done: false})
const says =
  (text: string | Uint8Array, type = 'application/x-ndjson'): Answer =>
  (response) =>
    response.writeHead(200, {'content-type': type}).end(text)

/** Writes a text repeatedly until the client disconnects. */
async function forever(response: ServerResponse, text: string): Promise<void> {
  while (!response.destroyed)
    if (!response.write(text)) await Promise.race([sleep(5), new Promise((resolve) => response.once('drain', resolve))])
}

/** Invalid responses of a server, and the resulting error of the task. */
const invalidResponses: Readonly<Record<string, readonly [answer: Answer, reason: RegExp]>> = {
  'an incomplete answer': [says(first), /its answer is incomplete/],
  'an empty body': [says(''), /its answer is incomplete/],
  'a web page': [says('<!doctype html>', 'text/html'), /a web page/],
  'a web page declared as JSON': [says('<html>'), /line 1 is not JSON/],
  'an incomplete line': [says(`${first}{"response":`), /line 2 is not JSON/],
  'invalid UTF-8': [says(Uint8Array.of(0x7b, 0xff, 0x0a)), /not UTF-8/],
  'a list': [says('[]\n'), /not a JSON object/],
  null: [says('null\n'), /not a JSON object/],
  'a number as text': [says(line({response: 7, done: false})), /"response" in a line is not a string/],
  'a string as done': [says(line({response: 'x', done: 'yes'})), /"done" in a line is not a boolean/],
  'a missing done': [says(line({response: 'x'})), /"done" in a line is not/],
  'a negative count': [says(answerLines('x', {eval_count: -1})), /"eval_count" is not a token count/],
  'a fractional count': [says(answerLines('x', {prompt_eval_count: 1.5})), /"prompt_eval_count" is not a token count/],
  'one endless line': [(response) => forever(response, 'x'.repeat(65_536)), /a line is longer than/],
  'an endless answer': [
    (response) => forever(response, line({response: 'x'.repeat(4096), done: false})),
    /its answer is longer than/,
  ],
  'an error in the stream': [says(`${first}{"error":"out of memory"}\n`), /inference_failed: .*out of memory/],
  'an error status': [
    (response) => response.writeHead(404).end('{"error":"no such model"}'),
    /http_status: .*no such model/,
  ],
  'a redirect': [(response) => response.writeHead(302, {location: '/login'}).end(), /status 302/],
  'an answer without words': [says(answerLines(' ')), /returned an empty answer/],
}

const wellBehaved: Answer = (response) => response.end(answerLines('Seven.'))

describe('tasks whose inference server returns invalid responses', () => {
  it('fail with the reason, and the daemon continues', async (test) => {
    const server = await scriptedInference(test, (response, call, count) => {
      const invalid = Object.entries(invalidResponses).find(([kind]) => call.prompt.includes(`(${kind})`))
      return (invalid?.[1][0] ?? wellBehaved)(response, call, count)
    })
    const root = await workspace(test, server.baseUrl)
    await submit(root, ...Object.keys(invalidResponses).map((kind) => `think (${kind})`), 'think')
    const daemon = startDaemonInTurn(root)
    const shown = await shownAtEnd(root)
    for (const [i, [kind, [, reason]]] of Object.entries(invalidResponses).entries()) {
      const task = shown[i]
      assert.deepEqual([kind, task?.status, task?.retry_count], [kind, 'Failed', 0])
      assert.match(task?.status_reason ?? '', reason, kind)
      assert.doesNotMatch(task?.status_reason ?? '', /\n|internal/, kind)
    }
    const last = shown[Object.keys(invalidResponses).length]
    assert.deepEqual([last?.status, last?.result?.text], ['Completed', 'Seven.'])
    daemon.kill('SIGTERM')
    assert.equal(await daemon.exited, 0)
  })
})

describe('a task whose inference server', () => {
  it('is unreachable fails with its address', async (test) => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const {port} = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const root = await workspace(test, `http://127.0.0.1:${port}`)
    await submit(root, 'think')
    startDaemonInTurn(root)
    const {status, status_reason: reason = ''} = await taskAtEnd(root)
    assert.equal(status, 'Failed')
    assert.ok(reason.startsWith('unreachable: ') && reason.includes(`127.0.0.1:${port}`), reason)
  })

  it('is too slow fails with a timeout and disconnects', async (test) => {
    const server = await scriptedInference(test, (response) => response.write(first))
    const {result} = await untilReached(
      () => server.calls.length === 1,
      async (ms) => {
        const root = await workspace(test, server.baseUrl, `task_timeout_ms = ${ms}\nmax_task_retries = 3`)
        await submit(root, 'think')
        startDaemonInTurn(root)
        return taskAtEnd(root)
      },
    )
    await server.hungUp
    assert.deepEqual([result.status, result.status_reason, result.retry_count], ['Failed', 'timeout', 0])
  })

  it('dies during an answer and recovers is retried with increasing delays', async (test) => {
    const server = await scriptedInference(test, (response, call, count) =>
      count <= 2 ? void response.write(first, () => response.destroy()) : wellBehaved(response, call, count),
    )
    const root = await workspace(test, server.baseUrl, 'max_task_retries = 3')
    await submit(root, 'think')
    startDaemonInTurn(root)
    const task = await taskAtEnd(root)
    assert.deepEqual([task.status, task.retry_count, task.result?.text], ['Completed', 2, 'Seven.'])
    // Two failed calls, then one per phase.
    assert.equal(server.calls.length, 8)
    const requeued = readStore(root, (database) =>
      database
        .prepare<[], {timestamp_ms: number; reason: string; due: number}>(
          `SELECT timestamp_ms, json_extract(payload, '$.reason') AS reason, json_extract(payload, '$.not_before_ms') AS due
FROM orch_events WHERE type = 'task_requeued' ORDER BY id`,
        )
        .all(),
    )
    assert.deepEqual(
      requeued.map(({timestamp_ms: at, due}) => Math.round((due - at) / 100) * 100),
      [1000, 2000],
    )
    for (const {reason} of requeued) assert.match(reason, /^unreachable: /)
  })

  it('never recovers fails after the maximum number of retries', async (test) => {
    const server = await scriptedInference(test, says('no\n'))
    const root = await workspace(test, server.baseUrl, 'max_task_retries = 1')
    await submit(root, 'think')
    startDaemonInTurn(root)
    const {status, retry_count: retries, status_reason: reason = ''} = await taskAtEnd(root)
    assert.deepEqual([status, retries, server.calls.length], ['Failed', 1, 2])
    assert.match(reason, /^inference_protocol: /)
  })

  it('returns an empty answer fails without a retry', async (test) => {
    const server = await scriptedInference(test, (response) => response.end(answerLines(' ')))
    const root = await workspace(test, server.baseUrl, 'max_task_retries = 3')
    await submit(root, 'think')
    startDaemonInTurn(root)
    const {status, retry_count: retries} = await taskAtEnd(root)
    assert.deepEqual([status, retries], ['Failed', 0])
  })

  it('was busy when the daemon was killed is run again by the next daemon', async (test) => {
    const server = await scriptedInference(test, (response, call, count) =>
      count === 1 ? response.write(first) : wellBehaved(response, call, count),
    )
    const root = await workspace(test, server.baseUrl)
    await submit(root, 'think')
    const daemon = startDaemon(root)
    await until(() => server.calls.length > 0, 'the first call')
    daemon.kill('SIGKILL')
    await daemon.exited
    await server.hungUp
    startDaemonInTurn(root)
    const task = await taskAtEnd(root)
    assert.deepEqual([task.status, task.retry_count], ['Completed', 1])
  })
})
