import assert from 'node:assert/strict'
import {mkdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import type {SubmitTaskV1} from '../../../src/contracts/index.js'
import {openSecrets, type RemoteEnvelope, readWork, remoteTypes} from '../../../src/mesh/index.js'
import {
  answerQuestion,
  askQuestion,
  cancelTask,
  doubtTask,
  readEvents,
  retryTask,
  submitTask,
} from '../../../src/tasks/index.js'
import type {Fate} from '../../mesh/client/support/logging-proxy.js'
import {until} from '../../support/until.js'
import {userFolder} from '../../tasks/hidden/hidden-workspace.js'
import {builder, RemoteWorld} from './remote-world.js'

const secretTemplate = `[orchestrator.exec]
enabled = true
secrets = ["DEPLOY_KEY"]
templates = {deploy = ["true"]}
`
const deploy: SubmitTaskV1 = {
  ...builder,
  exec: {template: 'deploy', secrets: ['DEPLOY_KEY']},
  processor: 'exec',
}

/** Time without a heartbeat after which a worker is lost. */
const lostMs = 20_000

const relayError = 'local_queue_fallback_after_remote_relay_error'

describe('a task with a gated role', () => {
  it('runs on another node, is accepted once, and its lease is released', async (t) => {
    const world = await RemoteWorld.open(t)
    await world.start()
    submitTask(world.orchestrator, {...builder, enqueue_hints: {...builder.enqueue_hints, campaign_id: 'spring'}})
    const claimed = await world.claim()
    await world.untilDelegation('relayed')
    assert.equal(world.task().status, 'RemoteHold')
    const [lease] = await world.leases()
    assert.deepEqual(world.task().remote_delegate, {
      idempotency_key: claimed.envelope.idempotency_key,
      claimer_node_id: world.claimer,
      lease_id: lease?.lease_id,
      fence_token: lease?.fence_token,
    })
    assert.deepEqual(world.placements(), [['populi_remote_lease_hold', lease?.lease_id]])
    const [lineage] = world.orchestrator.store.all<{kind: string; payload_json: string}>(
      'SELECT kind, payload_json FROM orchestration_lineage_events ORDER BY id DESC LIMIT 1',
    )
    assert.deepEqual(
      [lineage?.kind, JSON.parse(lineage?.payload_json ?? '').lease_id],
      ['task_delegated', lease?.lease_id],
    )
    assert.deepEqual([claimed.envelope.exec_lease_id, claimed.envelope.campaign_id], [lease?.lease_id, 'spring'])
    assert.equal(readWork(JSON.parse(claimed.envelope.payload)).task_description, 'build it')
    await world.send(remoteTypes.ack, claimed.envelope, {accepted: true})
    await world.untilDelegation('started')
    await world.finish(claimed)
    await world.untilStatus('Completed')
    const {result} = world.task() as {result?: {text?: string; remote?: object}}
    assert.equal(result?.text, 'built')
    await until(async () => (await world.leases()).length === 0, 'the lease is released')
    await until(async () => (await world.unread(claimed.envelope.reply_to_agent_id ?? '')).length === 0, 'acknowledged')
    assert.equal(world.delegation()?.state, 'done')
    assert.deepEqual(world.local.started, [])
  })

  it('has to pass the hidden checks of this machine, which the other one does not receive', async (t) => {
    const {userConfig} = await userFolder(
      t,
      {'secret-check.sh': '#!/bin/sh\ntest -e done.txt\n'},
      (folder) => `[[orchestrator.harness.hidden_checks]]\nfiles = ["${folder}/secret-check.sh"]\n`,
    )
    const world = await RemoteWorld.open(t, '', {userConfig})
    await world.start()
    submitTask(world.orchestrator, builder)
    await world.finish(await world.claim())
    const {message, envelope} = await world.claim()
    assert.match(envelope.payload, /A hidden check failed/)
    assert.doesNotMatch(message.payload, /secret-check|done\.txt/)
    await writeFile(join(world.orchestrator.root, 'done.txt'), '')
    await world.finish({message, envelope})
    await world.untilStatus('Completed')
  })

  it('runs on another node although the first attempt to join was lost', async (t) => {
    const world = await RemoteWorld.open(t)
    world.proxy.decide = ({route}) => {
      delete world.proxy.decide
      return route === 'POST /v1/mesh/join' ? 'lose request' : 'pass'
    }
    await world.start()
    submitTask(world.orchestrator, builder)
    await world.finish(await world.claim())
    await world.untilStatus('Completed')
    assert.deepEqual(world.local.started, [])
    assert.equal(world.proxy.log[0]?.fate, 'lose request')
  })

  it('sends its secrets encrypted, with their names only in clear', async (t) => {
    const env = {SVC_MESH_SECRETBOX_KEY: 'k'.repeat(32)}
    const world = await RemoteWorld.open(t, secretTemplate, {env})
    await world.start({env: {DEPLOY_KEY: 'open sesame', OTHER: 'x'}})
    submitTask(world.orchestrator, deploy)
    const {message, envelope} = await world.claim()
    assert.deepEqual(JSON.parse(envelope.capability_requirements_json ?? ''), {required_secrets: ['DEPLOY_KEY']})
    const secrets = await openSecrets('k'.repeat(32), message.jwe_payload ?? '')
    assert.deepEqual(secrets, {DEPLOY_KEY: 'open sesame'})
    assert.doesNotMatch(JSON.stringify([message, world.task(), readEvents(world.orchestrator)]), /sesame/)
  })

  it('is not sent without a key for its secrets', async (t) => {
    const world = await RemoteWorld.open(t, secretTemplate)
    await world.start({env: {DEPLOY_KEY: 'open sesame'}})
    submitTask(world.orchestrator, deploy)
    await world.untilStatus('Completed')
    assert.deepEqual(world.placements().at(-1), [relayError, null])
  })

  it('takes no slot of its agent', async (t) => {
    const world = await RemoteWorld.open(t)
    await world.start()
    for (let i = 0; i < 3; i++) submitTask(world.orchestrator, builder)
    const claims = [await world.claim(), await world.claim('worker-1')]
    assert.equal(claims[0]?.message.id, claims[1]?.message.id)
    for (const id of [1, 2, 3]) await world.untilDelegation('relayed', id)
    assert.ok([1, 2, 3].every((id) => world.task(id).agent_id === world.task(1).agent_id))
  })

  it('fails with the error of the worker', async (t) => {
    const world = await RemoteWorld.open(t)
    await world.start()
    submitTask(world.orchestrator, builder)
    await world.finish(await world.claim(), {success: false, error: 'the compiler crashed'})
    await world.untilStatus('Failed')
    assert.equal(world.task().status_reason, 'the compiler crashed')
  })

  it('is not accepted under another lease, and a second result changes nothing', async (t) => {
    const world = await RemoteWorld.open(t)
    await world.start()
    submitTask(world.orchestrator, builder)
    const claimed = await world.claim()
    await world.untilDelegation('relayed')
    const {envelope} = claimed
    await world.send(remoteTypes.result, envelope, {exec_lease_id: '999', success: true, result: 'foreign'}, 'foreign')
    await until(async () => (await world.unread(envelope.reply_to_agent_id ?? '')).length === 0, 'it is read')
    assert.equal(world.task().status, 'RemoteHold')
    await world.finish(claimed)
    await world.untilStatus('Completed')
    await world.send(remoteTypes.result, envelope, {success: false, error: 'late'}, 'late')
    await until(async () => (await world.unread(envelope.reply_to_agent_id ?? '')).length === 0, 'it is read')
    assert.equal(world.task().status, 'Completed')
  })
})

describe('a delegated task survives a lost response', () => {
  for (const operation of ['exec/lease/grant', 'a2a/deliver', 'a2a/ack'])
    it(`to ${operation}`, async (t) => {
      const world = await RemoteWorld.open(t)
      const lost = new Set<string>()
      world.proxy.decide = ({route, body}) => {
        if (route !== `POST /v1/mesh/${operation}` || lost.has(body)) return 'pass'
        lost.add(body)
        return 'lose answer'
      }
      await world.start()
      submitTask(world.orchestrator, builder)
      const claimed = await world.claim()
      await world.untilDelegation('relayed')
      await world.finish(claimed)
      await world.untilStatus('Completed')
      await until(
        async () => (await world.unread(claimed.envelope.reply_to_agent_id ?? '')).length === 0,
        'acknowledged',
      )
      assert.ok(lost.size > 0)
      assert.deepEqual([world.placements().length, world.local.started], [1, []])
    })

  it('by a restart of the control plane', async (t) => {
    const world = await RemoteWorld.open(t, 'mesh_remote_result_poll_interval_secs = 1\n')
    await world.start()
    submitTask(world.orchestrator, builder)
    const claimed = await world.claim()
    await world.untilDelegation('relayed')
    // All connections break for a while, as during a restart.
    world.proxy.decide = () => ({status: 503})
    world.proxy.disconnect()
    await until(() => world.proxy.log.some(({status}) => status === 503), 'a request is refused')
    delete world.proxy.decide
    await world.finish(claimed)
    await world.untilStatus('Completed')
    assert.deepEqual(world.local.started, [])
  })

  it('and acknowledges a message that it cannot read', async (t) => {
    const world = await RemoteWorld.open(t, 'mesh_remote_result_poll_interval_secs = 1\n')
    await world.start()
    submitTask(world.orchestrator, builder)
    const claimed = await world.claim()
    const {reply_to_agent_id: replyTo = ''} = claimed.envelope
    const broken = {senderAgentId: '2', receiverAgentId: replyTo, messageType: remoteTypes.result, payload: '{'}
    await world.worker.deliver(broken)
    await until(async () => (await world.unread(replyTo)).length === 0, 'it is acknowledged')
    await world.finish(claimed)
    await world.untilStatus('Completed')
  })
})

describe('a task without a gated role', () => {
  it('runs here', async (t) => {
    const world = await RemoteWorld.open(t)
    await world.start()
    submitTask(world.orchestrator, {description: 'verify it', enqueue_hints: {execution_role: 'verifier'}})
    await world.untilStatus('Completed')
    assert.deepEqual(world.placements(), [['local_queue_default', null]])
  })

  it('runs here if nothing polls for results', async (t) => {
    const world = await RemoteWorld.open(t, 'mesh_remote_result_poll_interval_secs = 0\n')
    await world.start()
    submitTask(world.orchestrator, builder)
    await world.untilStatus('Completed')
    assert.deepEqual(world.placements(), [['local_queue_default', null]])
  })
})

describe('a delegated task falls back to the local queue', () => {
  it('if no node has the GPU memory', async (t) => {
    const world = await RemoteWorld.open(t)
    await world.start()
    submitTask(world.orchestrator, {...builder, capability_requirements: {min_vram_mb: 8192}})
    await world.untilStatus('Completed')
    assert.deepEqual(world.placements(), [['local_queue_fallback_insufficient_vram', null]])
    assert.deepEqual(await world.inboxOf(remoteTypes.envelope), [])
  })

  it('if the control plane is not reachable', async (t) => {
    const world = await RemoteWorld.open(t, '', {url: 'http://127.0.0.1:1'})
    await world.start()
    submitTask(world.orchestrator, builder)
    await world.untilStatus('Completed')
    assert.deepEqual(world.placements(), [[relayError, null]])
  })

  const deliver = 'POST /v1/mesh/a2a/deliver'
  const isEnvelope = (body: string) => body.includes(remoteTypes.envelope)

  it('if the envelope is refused, and its lease is released', async (t) => {
    const world = await RemoteWorld.open(t, '', {maxBodyBytes: 4096})
    await world.start()
    submitTask(world.orchestrator, {...builder, description: 'x'.repeat(8192)})
    await world.untilStatus('Completed')
    assert.deepEqual(world.placements(), [[relayError, null]])
    await until(async () => (await world.leases()).length === 0, 'the lease is released')
    assert.equal(world.proxy.log.filter(({route, body}) => route === deliver && isEnvelope(body)).length, 1)
  })

  it('if the outcome of the delivery stays unknown, and the worker is told to stop', async (t) => {
    const world = await RemoteWorld.open(t)
    world.proxy.decide = ({route, body}) => (route === deliver && isEnvelope(body) ? 'lose answer' : 'pass')
    await world.start()
    submitTask(world.orchestrator, builder)
    await world.untilStatus('Completed')
    assert.deepEqual(world.placements(), [[relayError, null]])
    const [envelope, ...others] = await world.inboxOf(remoteTypes.envelope)
    assert.deepEqual(others, [], 'the repeated deliveries are one message')
    const [cancel] = await world.cancellations()
    assert.equal(cancel?.idempotency_key, envelope?.idempotency_key)
    await until(async () => (await world.leases()).length === 0, 'the lease is released')
  })

  it('if the control plane is unreachable for longer than the lease', async (t) => {
    const world = await RemoteWorld.open(t, '', {leaseMs: 6000})
    await world.start()
    submitTask(world.orchestrator, builder)
    const claimed = await world.claim()
    await world.untilDelegation('relayed')
    world.proxy.decide = () => 'lose request'
    await world.untilStatus('Completed')
    assert.deepEqual(world.local.started, [1])
    assert.deepEqual(world.placements().at(-1), [relayError, null])
    delete world.proxy.decide
    await world.finish(claimed, {result: 'late'})
    await until(async () => (await world.unread(claimed.envelope.reply_to_agent_id ?? '')).length === 0, 'it is read')
    assert.equal(world.task().result?.text, 'done')
  })

  it('if its lease is revoked, and a late result is ignored', async (t) => {
    const world = await RemoteWorld.open(t, '', {leaseMs: 6000})
    await world.start()
    submitTask(world.orchestrator, builder)
    const claimed = await world.claim()
    await world.untilDelegation('relayed')
    const [lease] = await world.leases()
    await world.worker.revokeLease(lease?.lease_id ?? '')
    await world.untilDelegation('superseded')
    await world.untilStatus('Completed')
    assert.deepEqual(world.local.started, [1])
    assert.deepEqual(world.placements().at(-1), [relayError, null])
    assert.deepEqual(
      (await world.cancellations()).map(({reason}) => reason),
      ['lease_renew_failed'],
    )
    await world.send(remoteTypes.result, claimed.envelope, {success: true, result: 'late'}, 'late')
    await until(async () => (await world.unread(claimed.envelope.reply_to_agent_id ?? '')).length === 0, 'it is read')
    assert.equal(world.task().result?.text, 'done')
    assert.equal((await world.inboxOf(remoteTypes.envelope)).length, 1)
  })

  it('if its lease is revoked while the envelope is being sent, and no other envelope is sent', async (t) => {
    // Long enough that it does not expire on a busy machine before the test revokes it.
    const world = await RemoteWorld.open(t, '', {leaseMs: 9000})
    const refuse = async (): Promise<Fate> => {
      delete world.proxy.decide
      const [lease] = await world.leases()
      await world.worker.revokeLease(lease?.lease_id ?? '')
      await world.untilDelegation('superseded')
      return {status: 503}
    }
    world.proxy.decide = ({route, body}) => (route === deliver && isEnvelope(body) ? refuse() : 'pass')
    await world.start()
    submitTask(world.orchestrator, builder)
    await world.untilStatus('Completed')
    assert.deepEqual([world.local.started, world.delegation()?.end_reason], [[1], 'lease_renew_failed'])
    assert.deepEqual(await world.inboxOf(remoteTypes.envelope), [])
  })

  it('if its lease is lost while its files are being sent', async (t) => {
    // Long enough that it does not expire on a busy machine before the test revokes it.
    const world = await RemoteWorld.open(t, '', {leaseMs: 9000})
    await writeFile(join(world.orchestrator.root, 'in.txt'), 'input')
    let held: Promise<Fate> | undefined
    const hold = async (): Promise<Fate> => {
      const [lease] = await world.leases()
      await world.worker.revokeLease(lease?.lease_id ?? '')
      await until(() => world.delegation()?.state === 'superseded', 'the loss is noticed')
      return 'pass'
    }
    world.proxy.decide = ({route}) => {
      if (!route.startsWith('PUT /v1/mesh/blobs')) return 'pass'
      held ??= hold()
      return held
    }
    await world.start()
    submitTask(world.orchestrator, {...builder, file_manifest: [{path: 'in.txt', access: 'read'}]})
    await world.untilStatus('Completed')
    assert.equal(await held, 'pass')
    assert.deepEqual([world.local.started, world.delegation()?.end_reason], [[1], 'lease_renew_failed'])
    assert.deepEqual(await world.inboxOf(remoteTypes.envelope), [])
  })

  it('if no worker sends a heartbeat', async (t) => {
    const world = await RemoteWorld.open(t, `mesh_remote_lease_timeout_ms = ${lostMs}\n`)
    await world.start()
    submitTask(world.orchestrator, builder)
    await world.untilDelegation('relayed')
    world.advance(lostMs)
    await world.untilStatus('Completed')
    assert.deepEqual(world.placements(), [
      ['populi_remote_lease_hold', world.delegation()?.lease_id],
      [relayError, null],
    ])
    await until(async () => (await world.leases()).length === 0, 'the lease is released')
  })
})

describe('a delegated task whose work is no longer wanted', () => {
  const changes = {
    cancelled: (world: RemoteWorld) => cancelTask(world.orchestrator, 1),
    doubted: (world: RemoteWorld) => doubtTask(world.orchestrator, 1),
    'blocked by a question': (world: RemoteWorld) =>
      askQuestion(world.orchestrator, {task_id: 1, prompt: 'Which one?', blocks: true}),
  }
  for (const [what, change] of Object.entries(changes))
    it(`is cancelled on the other node when it is ${what}`, async (t) => {
      const world = await RemoteWorld.open(t)
      await world.start()
      submitTask(world.orchestrator, builder)
      const claimed = await world.claim()
      await world.untilDelegation('relayed')
      change(world)
      const {status} = world.task()
      await world.untilDelegation('cancelled')
      assert.equal((await world.cancellations()).length, 1)
      await until(async () => (await world.leases()).length === 0, 'the lease is released')
      await world.finish(claimed)
      await until(async () => (await world.unread(claimed.envelope.reply_to_agent_id ?? '')).length === 0, 'it is read')
      assert.equal(world.task().status, status)
    })

  it('is sent again after the answer to a question', async (t) => {
    const world = await RemoteWorld.open(t)
    await world.start()
    submitTask(world.orchestrator, builder)
    await world.untilDelegation('relayed')
    askQuestion(world.orchestrator, {task_id: 1, prompt: 'Which one?', blocks: true})
    await world.untilDelegation('cancelled')
    answerQuestion(world.orchestrator, {question_id: 'Q-0001', answer: 'both'})
    await world.untilDelegation('relayed')
    assert.match(JSON.parse((await world.inboxOf(remoteTypes.envelope))[0].payload).task_description, /both$/)
  })

  it('is sent again when it is retried', async (t) => {
    const world = await RemoteWorld.open(t)
    await world.start()
    submitTask(world.orchestrator, builder)
    await world.finish(await world.claim(), {success: false, error: 'no luck'})
    await world.untilStatus('Failed')
    retryTask(world.orchestrator, 1)
    await world.finish(await world.claim())
    await world.untilStatus('Completed')
  })
})

describe('the files of a delegated task', () => {
  const task = {
    ...builder,
    file_manifest: [
      {path: 'src/in.txt', access: 'read'},
      {path: 'src/out.txt', access: 'write'},
      {path: 'src/new.txt', access: 'write'},
    ],
  }
  const open = async (...[t, more]: Parameters<typeof RemoteWorld.open>) => {
    const world = await RemoteWorld.open(t, more)
    await mkdir(join(world.orchestrator.root, 'src'))
    await writeFile(join(world.orchestrator.root, 'src/in.txt'), 'input')
    await writeFile(join(world.orchestrator.root, 'src/out.txt'), 'before')
    await world.start()
    submitTask(world.orchestrator, task)
    return world
  }
  const contentOf = (world: RemoteWorld, path: string) =>
    readFile(join(world.orchestrator.root, path), 'utf8').catch((error: NodeJS.ErrnoException) => error.code)

  it('are sent by digest, and the written ones enter the workspace', async (t) => {
    const world = await open(t)
    const claimed = await world.claim()
    const {files = []} = readWork(JSON.parse(claimed.envelope.payload))
    assert.deepEqual(
      files.map(({path, access, size}) => [path, access, size]),
      [
        ['src/in.txt', 'read', 5],
        ['src/out.txt', 'write', 6],
        ['src/new.txt', 'write', undefined],
      ],
    )
    assert.equal(String(await world.worker.getBlob(files[0]?.sha256 ?? '')), 'input')
    const sha256 = await world.worker.putBlob(Buffer.from('after'))
    await world.finish(claimed, {files: [{path: 'src/new.txt', sha256}, {path: 'src/out.txt'}]})
    await world.untilStatus('Completed')
    assert.deepEqual(
      [await contentOf(world, 'src/new.txt'), await contentOf(world, 'src/out.txt')],
      ['after', 'ENOENT'],
    )
  })

  it('fail the task if they have changed in the meantime, and stay as they are', async (t) => {
    const world = await open(t)
    const claimed = await world.claim()
    await world.untilDelegation('relayed')
    await writeFile(join(world.orchestrator.root, 'src/out.txt'), 'by a person')
    const sha256 = await world.worker.putBlob(Buffer.from('after'))
    await world.finish(claimed, {files: [{path: 'src/out.txt', sha256}]})
    await world.untilStatus('Failed')
    assert.match(world.task().status_reason ?? '', /^src\/out.txt has changed since/)
    assert.equal(await contentOf(world, 'src/out.txt'), 'by a person')
  })

  it('fail the task if it may not write them', async (t) => {
    const world = await open(t)
    const sha256 = await world.worker.putBlob(Buffer.from('after'))
    await world.finish(await world.claim(), {files: [{path: 'src/in.txt', sha256}]})
    await world.untilStatus('Failed')
    assert.match(world.task().status_reason ?? '', /^src\/in.txt is not a file that the task writes/)
    assert.equal(await contentOf(world, 'src/in.txt'), 'input')
  })

  it('are restored if a completion gate refuses the result', async (t) => {
    const world = await open(t, 'max_toestub_debug_iterations = 0\n')
    const sha256 = await world.worker.putBlob(Buffer.from('TODO: write it\n'))
    await world.finish(await world.claim(), {files: [{path: 'src/out.txt', sha256}]})
    await world.untilStatus('Failed')
    assert.equal(world.task().status_reason, 'gate_exhausted:toestub')
    await until(async () => (await contentOf(world, 'src/out.txt')) === 'before', 'the file is restored')
  })
})

describe('a daemon that is restarted', () => {
  it('continues a delegated task under the same lease', async (t) => {
    const world = await RemoteWorld.open(t)
    await world.start()
    submitTask(world.orchestrator, builder)
    const claimed = await world.claim()
    await world.untilDelegation('relayed')
    const lease = world.delegation()?.lease_id
    await world.stop()
    assert.equal(world.task().status, 'RemoteHold')
    await world.start()
    await world.finish(claimed)
    await world.untilStatus('Completed')
    assert.equal(world.delegation()?.lease_id, lease)
    assert.deepEqual(world.local.started, [])
  })

  it('accepts a result that arrived in the meantime', async (t) => {
    const world = await RemoteWorld.open(t)
    await world.start()
    submitTask(world.orchestrator, builder)
    const claimed = await world.claim()
    await world.untilDelegation('relayed')
    await world.stop()
    await world.finish(claimed)
    await world.start()
    await world.untilStatus('Completed')
  })

  for (const state of ['granting', 'held'])
    it(`queues a task here whose delegation was ${state}`, async (t) => {
      const world = await RemoteWorld.open(t)
      await world.start()
      submitTask(world.orchestrator, builder)
      await world.untilDelegation('relayed')
      await world.stop()
      // As if the daemon had been killed before it could record more.
      world.orchestrator.store.run(
        "UPDATE mesh_delegations SET state = ?, message_id = NULL, lease_id = iif(? = 'held', lease_id, NULL)",
        [state, state],
      )
      await world.start()
      await world.untilStatus('Completed')
      assert.deepEqual([world.placements().at(-1), world.local.started], [[relayError, null], [1]])
      await until(async () => (await world.leases()).length === 0, 'the lease is released')
    })

  it('queues a task here whose lease has ended', async (t) => {
    const world = await RemoteWorld.open(t)
    await world.start()
    submitTask(world.orchestrator, builder)
    await world.untilDelegation('relayed')
    await world.stop()
    const [lease] = await world.leases()
    await world.worker.revokeLease(lease?.lease_id ?? '')
    await world.start()
    await world.untilStatus('Completed')
    assert.deepEqual(world.local.started, [1])
  })
})

describe('a worker that sends no heartbeats', () => {
  it('is waited for if it is to be replaced, and the first result counts', async (t) => {
    const world = await RemoteWorld.open(t, lost)
    const envelope = await replaced(world)
    await world.send(remoteTypes.result, envelope, {success: true, result: 'of the first'}, 'first')
    await world.untilStatus('Completed')
    assert.equal(world.task().result?.text, 'of the first')
  })

  it('loses its task to the replacement if that is configured', async (t) => {
    const world = await RemoteWorld.open(t, `${lost}mesh_remote_reconcile = "keep_replacement"\n`)
    const envelope = await replaced(world)
    await world.send(remoteTypes.result, envelope, {success: true, result: 'of the first'}, 'first')
    await until(async () => (await world.unread(envelope.reply_to_agent_id ?? '')).length === 0, 'it is read')
    assert.equal(world.task().status, 'RemoteHold')
    const second = {worker_node_id: 'worker-2', success: true, result: 'of the second'}
    await world.send(remoteTypes.result, envelope, second, 'second')
    await world.untilStatus('Completed')
    assert.equal(world.task().result?.text, 'of the second')
  })

  const lost = `mesh_remote_lease_timeout_ms = ${lostMs}\nmesh_remote_replace_lost_worker = true\n`

  /** Lets a second worker start the task of a lost one. */
  async function replaced(world: RemoteWorld) {
    await world.start()
    submitTask(world.orchestrator, builder)
    const {envelope} = await world.claim()
    await world.send(remoteTypes.ack, envelope, {accepted: true})
    await until(() => world.delegation()?.worker_node_id === 'worker-1', 'it is started')
    await world.send(remoteTypes.ack, envelope, {accepted: true, worker_node_id: 'worker-2'}, 'second ack')
    await until(() => world.delegation()?.worker_node_id === 'worker-2', 'it is started again')
    // Another task, which is not replaced, shows that the delegator has looked for lost workers.
    submitTask(world.orchestrator, {...builder, enqueue_hints: {...builder.enqueue_hints, lost_node: {replace: false}}})
    await world.untilDelegation('relayed', 2)
    world.advance(lostMs)
    await world.untilStatus('Completed', 2)
    return envelope
  }
})

describe('the policy of a task for a lost node', () => {
  type Policy = NonNullable<NonNullable<SubmitTaskV1['enqueue_hints']>['lost_node']>

  /** Submits a task for each policy, and starts them on a worker in this order. */
  async function started(t: TestContext, toml: string, policies: readonly Policy[]) {
    const world = await RemoteWorld.open(t, toml)
    await world.start()
    const envelopes: RemoteEnvelope[] = []
    for (const [i, lost_node] of policies.entries()) {
      submitTask(world.orchestrator, {...builder, enqueue_hints: {...builder.enqueue_hints, lost_node}})
      await world.untilDelegation('relayed', i + 1)
      const envelope = (await world.envelopes()).find(({task_id: id}) => id === i + 1) ?? assert.fail()
      envelopes.push(envelope)
      await world.send(remoteTypes.ack, envelope, {accepted: true})
      await world.untilDelegation('started', i + 1)
    }
    return {world, envelopes}
  }

  // Of two tasks, one falls back. The other has been without a heartbeat for longer, and is still held.
  for (const [what, toml, held, lost] of [
    ['after_ms postpones the loss', `mesh_remote_lease_timeout_ms = ${lostMs}\n`, {after_ms: 600_000}, {}],
    ['after_ms hastens the loss', '', {}, {after_ms: lostMs}],
    ['replace waits for another worker', `mesh_remote_lease_timeout_ms = ${lostMs}\n`, {replace: true}, {}],
    [
      'replace runs the task here',
      `mesh_remote_lease_timeout_ms = ${lostMs}\nmesh_remote_replace_lost_worker = true\n`,
      {},
      {replace: false},
    ],
  ] as const)
    it(`${what}, whatever the workspace does`, async (t) => {
      const {world, envelopes} = await started(t, toml, [held, lost])
      world.advance(lostMs)
      await world.untilStatus('Completed', 2)
      assert.deepEqual(world.placements(2).at(-1), [relayError, null])
      assert.deepEqual([world.task(1).status, world.local.started], ['RemoteHold', [2]])
      const [envelope = assert.fail()] = envelopes
      await world.send(remoteTypes.result, envelope, {success: true, result: 'of the worker'}, 'result')
      await world.untilStatus('Completed')
      assert.equal(world.task().result?.text, 'of the worker')
    })

  for (const [own, other] of [
    ['keep_replacement', 'keep_original'],
    ['keep_original', 'keep_replacement'],
  ] as const)
    it(`reconcile is ${own} in a workspace with ${other}`, async (t) => {
      const {world, envelopes} = await started(t, `mesh_remote_reconcile = "${other}"\n`, [{reconcile: own}, {}])
      for (const [i, envelope] of envelopes.entries()) {
        const second = {accepted: true, worker_node_id: 'worker-2'}
        await world.send(remoteTypes.ack, envelope, second, `second ack ${i}`)
        await until(() => world.delegation(i + 1)?.worker_node_id === 'worker-2', 'it is started again')
        await world.send(remoteTypes.result, envelope, {success: true, result: 'of the first'}, `first ${i}`)
      }
      await until(async () => (await world.unread(envelopes[0]?.reply_to_agent_id ?? '')).length === 0, 'they are read')
      const [kept, replaced] = own === 'keep_original' ? [1, 2] : [2, 1]
      assert.equal(world.task(kept).result?.text, 'of the first')
      assert.equal(world.task(replaced).status, 'RemoteHold')
    })
})
