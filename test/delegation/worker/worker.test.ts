import assert from 'node:assert/strict'
import {readdir, readFile, writeFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {runWorker} from '../../../src/delegation/index.js'
import {createMeshClient, remoteTypes, sealSecrets} from '../../../src/mesh/index.js'
import {isRunning} from '../../../src/process/index.js'
import {loggingProxy} from '../../mesh/client/support/logging-proxy.js'
import {scriptedInference} from '../../support/scripted-inference.js'
import {temporaryFolder} from '../../support/temporary.js'
import {until} from '../../support/until.js'
import {endless, exec, sha256, startDelegation, startWorker, workerOptions} from './support/delegation.js'

/** Short leases, so that heartbeats are frequent, but long enough for a slow machine. */
const shortLeases = {limits: {leaseMs: 20_000}, safetyMs: 100}

const pidIn = async (marker: string) => Number(await readFile(marker, 'utf8'))

describe('a worker', {concurrency: 4}, () => {
  it('runs a command, and delivers an acknowledgement while it runs, and the result', async (t) => {
    const parent = await startDelegation(t)
    const worker = await startWorker(t, parent)
    const sent = await parent.sendScript(`import fs from 'node:fs'
while (!fs.existsSync(${JSON.stringify(worker.marker)})) await new Promise((resolve) => setTimeout(resolve, 20))
console.log(process.env.SVC_TASK_UID); console.error('done')`)
    const ack = await parent.next(remoteTypes.ack)
    await writeFile(worker.marker, '')
    const lease = {exec_lease_id: sent.lease.lease_id, fence_token: sent.lease.fence_token, worker_node_id: 'worker-1'}
    const task = {idempotency_key: sent.key, task_id: sent.taskId}
    assert.deepEqual(JSON.parse(ack.payload), {...task, ...lease, accepted: true})
    const {duration_ms: duration, details, ...result} = await parent.result()
    const output = `${sent.uid}\ndone\n`
    assert.deepEqual(result, {...task, ...lease, success: true, result: sent.uid, files: [], output})
    assert.ok(Number(duration) > 0)
    const {template, exit_code} = details as {template: string; exit_code: number}
    assert.deepEqual([template, exit_code], ['run', 0])
    await worker.ended(1)
    assert.deepEqual([worker.ends(), await parent.open()], [['completed'], []])
    assert.deepEqual(await readdir(worker.folder), [], 'its folder is removed')
  })

  it('shows the number of tasks that it runs in the record of its node', async (t) => {
    const parent = await startDelegation(t)
    const running = async () => {
      const {nodes} = await parent.client.listNodes({fields: 'brief'})
      return nodes.find(({id}) => id === 'worker-1')?.running_tasks
    }
    assert.equal(await running(), undefined)
    const worker = await startWorker(t, parent)
    await until(async () => (await running()) === 0, 'it accepts tasks')
    await parent.cancel(await parent.sendScript(endless(worker.marker)))
    const sent = await parent.sendScript(endless(worker.marker))
    await worker.isRunning()
    await until(async () => (await running()) === 1, 'it runs a task')
    await parent.cancel(sent)
    await worker.ended(2)
    await until(async () => (await running()) === 0, 'the task has ended')
    await parent.sendScript(endless(worker.marker))
    await until(async () => (await running()) === 1, 'it runs another task')
    await worker.stop()
    assert.equal(await running(), 0)
  })

  it('reports the status and the output of a command that fails', async (t) => {
    const parent = await startDelegation(t)
    const worker = await startWorker(t, parent)
    await parent.sendScript('console.log("half"); console.error("no such table"); process.exit(3)')
    const {success, error, output, details} = await parent.result()
    assert.deepEqual([success, output], [false, 'half\nno such table\n'])
    assert.equal(error, 'task_run_failed: The task failed: run exited with status 3 (no such table).')
    assert.deepEqual(details, {error_code: 'task_run_failed', exit_code: 3})
    await worker.ended(1)
    assert.deepEqual(await parent.open(), [])
  })

  it('ends a command that takes longer than the timeout of the task', async (t) => {
    const parent = await startDelegation(t)
    const worker = await startWorker(t, parent)
    await parent.sendScript(endless(worker.marker), {timeout_ms: 2000})
    assert.match((await parent.result()).error ?? '', /^task_run_failed: .*timed out after 2000 ms\.$/)
  })

  it('rejects tasks that it cannot run', async (t) => {
    const parent = await startDelegation(t)
    const worker = await startWorker(t, parent, {options: {scope: 'team-a'}})
    const rejected = async (pattern: RegExp, work: object, envelope: object = {}) => {
      await parent.sendScript('', work, envelope)
      const {success, error} = await parent.result()
      assert.equal(success, false)
      assert.match(error ?? '', pattern)
    }
    await rejected(/^exec_template_unknown: .*no command template deploy/, {template: 'deploy'})
    await rejected(/^exec_params_missing: /, {params: {}})
    await rejected(/^exec_template_missing: /, {template: undefined})
    await rejected(/^remote_task_rejected: .* lacks a required capability/, {}, needs({min_vram_mb: 8192}))
    await rejected(/^remote_task_rejected: .* lacks a required capability/, {}, needs({labels: ['pool=train']}))
    await rejected(
      /^remote_task_rejected: .* secrets DEPLOY_KEY were not/,
      {},
      needs({required_secrets: ['DEPLOY_KEY']}),
    )
    await rejected(/^exec_secret_unlisted: .* PATH /, {}, needs({required_secrets: ['PATH']}))
    await rejected(
      /^remote_task_rejected: .* only commands/,
      {processor: 'ai'},
      needs({required_secrets: ['DEPLOY_KEY']}),
    )
    await rejected(/^remote_task_rejected: .* scope team-b, and this node of team-a/, {}, {mesh_scope_id: 'team-b'})
    assert.deepEqual(
      worker.events.filter(({type}) => type === 'started'),
      [],
    )
  })

  it('passes the declared secrets to a command, if both machines have the same key', async (t) => {
    const parent = await startDelegation(t)
    const worker = await startWorker(t, parent, {secretboxKey: 'k'.repeat(32)})
    const declared = needs({required_secrets: ['DEPLOY_KEY']})
    const script = 'console.log(process.env.DEPLOY_KEY.length, process.env.OTHER)'
    const run = async (key: string, secrets: Record<string, string>) => {
      await parent.sendScript(script, {}, declared, {jwe: await sealSecrets(key, secrets)})
      const {result, error} = await parent.result()
      return result ?? error
    }
    const secrets = {DEPLOY_KEY: 'open sesame', OTHER: 'x'}
    assert.equal(await run('k'.repeat(32), secrets), '11 undefined')
    assert.match((await run('o'.repeat(32), secrets)) ?? '', /^secretbox_unusable: .*another key/)
    assert.match((await run('k'.repeat(32), {OTHER: 'x'})) ?? '', /^remote_task_rejected: .*DEPLOY_KEY were not sent/)
    await worker.ended(3)
    assert.doesNotMatch(JSON.stringify(worker.events), /sesame/)
  })

  it('removes secrets from the output of a command', async (t) => {
    const parent = await startDelegation(t)
    await startWorker(t, parent, {secretboxKey: 'k'.repeat(32)})
    const jwe = await sealSecrets('k'.repeat(32), {DEPLOY_KEY: 'open sesame'})
    await parent.sendScript('console.log(process.env.DEPLOY_KEY)', {}, needs({required_secrets: ['DEPLOY_KEY']}), {jwe})
    assert.doesNotMatch(JSON.stringify(await parent.result()), /sesame/)
  })

  it('rejects commands if they are disabled', async (t) => {
    const parent = await startDelegation(t)
    await startWorker(t, parent, {config: {exec: {...exec, enabled: false}}})
    await parent.sendScript('')
    assert.match((await parent.result()).error ?? '', /^exec_disabled: /)
  })

  it('runs a task with a model, and reports its usage', async (t) => {
    const parent = await startDelegation(t)
    const {baseUrl} = await scriptedInference(t, (response) =>
      response.end(`${JSON.stringify({response: '7', done: true, prompt_eval_count: 10, eval_count: 2})}\n`),
    )
    await startWorker(t, parent, {env: {SVC_INFERENCE_URL: baseUrl}})
    await parent.send({task_description: 'Name a prime number.', model_preference: 'run-a'})
    const {success, result, usage} = await parent.result()
    assert.deepEqual([success, result], [true, '7'])
    assert.deepEqual(usage, {provider: 'local', model: 'run-a', inputTokens: 60, outputTokens: 12, costUsd: 0})
  })

  it('reports an inference server that does not respond', async (t) => {
    const parent = await startDelegation(t)
    await startWorker(t, parent, {env: {SVC_INFERENCE_URL: 'http://127.0.0.1:1'}})
    await parent.send({})
    const {success, error, details} = await parent.result()
    assert.equal(success, false)
    assert.match(error ?? '', /^unreachable: Cannot reach /)
    assert.equal(error?.split(':')[0], (details as {error_code: string}).error_code)
  })

  it('acknowledges invalid messages, and reports them if the delegation is readable', async (t) => {
    const parent = await startDelegation(t)
    const worker = await startWorker(t, parent)
    await parent.deliver(remoteTypes.envelope, '{"half', 'a')
    await parent.deliver(remoteTypes.envelope, '{"idempotency_key": "orch-remote-7-1", "exec_lease_id": "5"}', 'b')
    const {error, task_id, exec_lease_id} = await parent.result()
    assert.match(error ?? '', /^remote_task_invalid: /)
    assert.deepEqual([task_id, exec_lease_id], [7, '5'])
    const {key} = await parent.send({}, {payload: 'no JSON'})
    assert.equal((await parent.result()).idempotency_key, key)
    await worker.ended(3)
    assert.deepEqual(worker.ends(), ['unreadable', 'failed', 'failed'])
    assert.deepEqual(await parent.open(), [])
  })

  it('tries again after its interval with jitter if the control plane cannot be reached', async (t) => {
    const mesh = createMeshClient({baseUrl: 'http://127.0.0.1:1', tokens: {}, retry: false})
    t.after(() => mesh.close())
    for (const [drawn, expected] of [
      [0, 900],
      [0.5, 1000],
      [0.9999, 1100],
    ] as const) {
      const stop = new AbortController()
      const delays: number[] = []
      await runWorker({
        ...workerOptions(mesh, await temporaryFolder(t)),
        pollIntervalSecs: 1,
        random: () => drawn,
        signal: stop.signal,
        onEvent(event) {
          if (event.type !== 'failed') return
          delays.push(event.nextMs)
          stop.abort()
        },
      })
      assert.deepEqual(delays, [expected])
    }
  })

  it('does not run the tasks of an excluded sender', async (t) => {
    const parent = await startDelegation(t)
    await parent.sendScript('console.log("own")')
    const worker = await startWorker(t, parent, {options: {excludeSenders: ['4711']}})
    const other = await parent.sendScript('console.log("other")', {}, {}, {sender: '12'})
    assert.equal((await parent.result()).idempotency_key, other.key)
    await worker.ended(1)
    assert.equal((await parent.open()).length, 1)
  })

  it('runs one task at a time unless it has more slots', async (t) => {
    const parent = await startDelegation(t)
    const worker = await startWorker(t, parent)
    await parent.sendScript(endless(worker.marker))
    await worker.isRunning()
    const second = await parent.sendScript('console.log("second")')
    const both = await startWorker(t, parent, {options: {node: 'parent', slots: 2}})
    assert.equal((await parent.result()).idempotency_key, second.key)
    await both.ended(1)
    assert.equal(worker.events.filter(({type}) => type === 'started').length, 1)
    await parent.sendScript(endless(both.marker))
    await both.isRunning()
    await parent.sendScript('console.log("fourth")')
    assert.equal((await parent.result()).result, 'fourth')
  })

  it('waits while another worker of the machine runs', async (t) => {
    const parent = await startDelegation(t)
    const first = await startWorker(t, parent)
    await until(() => first.events.length > 0, 'it is ready')
    const second = await startWorker(t, parent, {options: {folder: first.folder}})
    await until(() => second.events.length > 0, 'it is waiting')
    assert.deepEqual(second.events, [{type: 'waiting'}])
    await first.stop()
    await parent.sendScript('console.log("taken over")')
    assert.equal((await parent.result()).result, 'taken over')
    assert.deepEqual(second.events[1], {type: 'ready'})
  })
})

const needs = (requirements: object) => ({capability_requirements_json: JSON.stringify(requirements)})

describe('a worker, with files', {concurrency: 3}, () => {
  it('receives input files, and returns created, changed and deleted ones', async (t) => {
    const parent = await startDelegation(t)
    await startWorker(t, parent)
    const input = async (path: string, text: string, access: 'read' | 'write') => {
      const digest = await parent.client.putBlob(Buffer.from(text))
      return {path, sha256: digest, size: text.length, access}
    }
    const files = [
      await input('src/in.txt', 'text', 'read'),
      await input('src/changed.txt', 'old', 'write'),
      await input('same.txt', 'same', 'write'),
      await input('gone.txt', 'gone', 'write'),
      {path: 'out/new.txt', access: 'write' as const},
      {path: 'never.txt', access: 'write' as const},
    ]
    await parent.sendScript(
      `import fs from 'node:fs'; fs.writeFileSync('src/changed.txt', fs.readFileSync('src/in.txt') + '!')
fs.mkdirSync('out'); fs.writeFileSync('out/new.txt', 'new'); fs.rmSync('gone.txt'); fs.writeFileSync('src/in.txt', 'x')
fs.writeFileSync('other.txt', 'x')`,
      {files},
    )
    const {success, files: written} = await parent.result()
    assert.equal(success, true)
    assert.deepEqual(written, [
      {path: 'src/changed.txt', sha256: sha256('text!'), size: 5},
      {path: 'gone.txt'},
      {path: 'out/new.txt', sha256: sha256('new'), size: 3},
    ])
    assert.equal((await parent.client.getBlob(sha256('text!'))).toString(), 'text!')
  })

  it('rejects paths outside its folder, and files that it cannot return', async (t) => {
    const parent = await startDelegation(t)
    await startWorker(t, parent)
    const fails = async (pattern: RegExp, path: string, script: string, digest?: string) => {
      const file = {path, access: 'write' as const, ...(digest === undefined ? {} : {sha256: digest})}
      await parent.sendScript(`import fs from 'node:fs'; ${script}`, {files: [file]})
      assert.match((await parent.result()).error ?? '', pattern)
    }
    await fails(/^path_denied: .*"\.\."/, '../escaped.txt', '')
    await fails(/^path_denied: /, '/etc/hostname', '')
    await fails(/^path_denied: /, '.git/hooks/pre-commit', '')
    await fails(/^remote_file_unusable: .* not a regular file/, 'a', `fs.symlinkSync('/etc/hostname', 'a')`)
    await fails(/^remote_file_unusable: .* symbolic link/, 'b/hostname', `fs.symlinkSync('/etc', 'b')`)
    await fails(/^remote_file_unusable: .* not a regular file/, 'c', `fs.mkdirSync('c')`)
    await fails(/^remote_file_unusable: .*8388609 bytes/, 'd', `fs.writeFileSync('d', Buffer.alloc(8388609))`)
    await fails(/^remote_file_unusable: .* does not have its content/, 'e', '', sha256('never uploaded'))
  })
})

describe('a worker whose task is no longer needed', {concurrency: 4}, () => {
  it('does not run a task that was cancelled before', async (t) => {
    const parent = await startDelegation(t)
    await parent.cancel(await parent.sendScript('console.log("too late")'))
    const worker = await startWorker(t, parent)
    await worker.ended(1)
    assert.deepEqual([worker.ends(), await parent.open()], [['cancelled'], []])
    assert.deepEqual(await parent.replies(remoteTypes.ack), [])
  })

  it('ends a command whose task is cancelled', async (t) => {
    const parent = await startDelegation(t)
    const worker = await startWorker(t, parent)
    const sent = await parent.sendScript(endless(worker.marker))
    await worker.isRunning()
    await parent.cancel(sent)
    await worker.ended(1)
    assert.deepEqual([worker.ends(), await parent.open()], [['cancelled'], []])
    assert.equal(isRunning(await pidIn(worker.marker)), false)
    assert.deepEqual(await parent.replies(remoteTypes.result), [])
  })

  it('acknowledges a task and its cancellation without running it if its lease has ended', async (t) => {
    const parent = await startDelegation(t)
    const sent = await parent.sendScript('console.log("too late")')
    await sent.release()
    await parent.cancel(sent)
    const worker = await startWorker(t, parent)
    await worker.ended(1)
    await until(async () => (await parent.open()).length === 0, 'nothing is left')
    assert.deepEqual(worker.ends(), ['stale'])
    assert.deepEqual(await parent.replies(remoteTypes.ack), [])
  })

  it('ends a command whose lease is revoked', async (t) => {
    const parent = await startDelegation(t, shortLeases)
    const worker = await startWorker(t, parent)
    const sent = await parent.sendScript(endless(worker.marker))
    await worker.isRunning()
    await parent.client.revokeLease(sent.lease.lease_id)
    await worker.ended(1)
    assert.deepEqual([worker.ends(), await parent.open()], [['stale'], []])
    assert.equal(isRunning(await pidIn(worker.marker)), false)
    assert.deepEqual(await parent.replies(remoteTypes.result), [])
  })
})

describe('a worker that keeps its claim', {concurrency: 4}, () => {
  it('sends heartbeats with the output so far', async (t) => {
    const parent = await startDelegation(t, shortLeases)
    const worker = await startWorker(t, parent)
    const sent = await parent.sendScript(`console.log('so far'); ${endless(worker.marker)}`)
    const beat = async () => JSON.parse((await parent.next(remoteTypes.heartbeat)).payload)
    let seen = await beat()
    while (seen.output === undefined) seen = await beat()
    assert.deepEqual([seen.idempotency_key, seen.output], [sent.key, 'so far\n'])
    assert.ok(seen.seq >= 1)
    const claims = (await parent.open()).map(({id, lease_holder_node_id: holder}) => [id, holder])
    assert.deepEqual(claims, [[sent.message, 'worker-1']])
  })

  it('ends a command if it loses the claim, so that another worker can run the task', async (t) => {
    const parent = await startDelegation(t, shortLeases)
    const worker = await startWorker(t, parent)
    const sent = await parent.sendScript(endless(worker.marker))
    await worker.isRunning()
    await parent.client.setQuarantine({node: 'worker-1', quarantined: true})
    await worker.ended(1)
    assert.deepEqual(worker.ends(), ['claim_lost'])
    assert.equal(isRunning(await pidIn(worker.marker)), false)
    const second = await startWorker(t, parent, {options: {node: 'parent'}})
    await until(() => second.events.some(({type}) => type === 'started'), 'the other worker has it')
    assert.deepEqual(await parent.replies(remoteTypes.result), [])
    assert.equal((await parent.open())[0]?.id, sent.message)
  })

  it('delivers a result once if the response is lost', async (t) => {
    const parent = await startDelegation(t)
    const proxy = await loggingProxy(t, parent.plane.baseUrl)
    let isLost = false
    proxy.decide = ({body}) => {
      if (isLost || !body.includes('"message_type":"remote_task_result"')) return 'pass'
      isLost = true
      return 'lose answer'
    }
    const worker = await startWorker(t, parent, {baseUrl: proxy.url})
    await parent.sendScript('console.log("once")')
    await worker.ended(1)
    const deliveries = proxy.log.filter(({body}) => body.includes('"message_type":"remote_task_result"'))
    assert.deepEqual([deliveries.length, (await parent.replies(remoteTypes.result)).length], [2, 1])
  })

  it('does not run a redelivered task whose result its parent has not read yet', async (t) => {
    const parent = await startDelegation(t)
    const sent = await parent.sendScript('console.log("again")')
    await parent.client.join({id: 'first', version: '1', capabilities: {}})
    await parent.client.inbox({receiver: '2', claimer: 'first'})
    await parent.client.leave('first')
    const result = {idempotency_key: sent.key, task_id: sent.taskId, success: true, result: 'before'}
    const message = {senderAgentId: '2', receiverAgentId: '4711', messageType: remoteTypes.result}
    await parent.client.deliver({...message, payload: JSON.stringify(result)})
    const worker = await startWorker(t, parent)
    await worker.ended(1)
    assert.deepEqual([worker.ends(), await parent.open()], [['duplicate'], []])
    assert.equal((await parent.result()).result, 'before')
  })
})

describe('a worker that is stopped', {concurrency: 2}, () => {
  it('lets a running task end', async (t) => {
    const parent = await startDelegation(t)
    const worker = await startWorker(t, parent, {options: {drainMs: 60_000}})
    await parent.sendScript(
      `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(worker.marker)}, '')
while (!fs.existsSync(${JSON.stringify(`${worker.marker}.go`)})) await new Promise((r) => setTimeout(r, 5)); console.log('ended')`,
    )
    await worker.isRunning()
    const stopped = worker.stop()
    await writeFile(`${worker.marker}.go`, '')
    await stopped
    assert.deepEqual(worker.ends(), ['completed'])
    assert.equal((await parent.result()).result, 'ended')
  })

  it('aborts a task after the drain time, and leaves it in the inbox', async (t) => {
    const parent = await startDelegation(t)
    const worker = await startWorker(t, parent, {options: {drainMs: 1}})
    const sent = await parent.sendScript(endless(worker.marker))
    await worker.isRunning()
    await worker.stop()
    assert.deepEqual(worker.ends(), ['draining'])
    assert.equal(isRunning(await pidIn(worker.marker)), false)
    assert.deepEqual(
      (await parent.open()).map(({id}) => id),
      [sent.message],
    )
    assert.deepEqual(await parent.replies(remoteTypes.result), [])
  })
})
