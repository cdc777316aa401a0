import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {holdClaim, JobEnded} from '../../../src/delegation/worker/hold-claim.js'
import {readJob} from '../../../src/delegation/worker/job.js'
import type {WorkerMesh} from '../../../src/delegation/worker/mesh.js'
import type {StoredMessage} from '../../../src/mesh/index.js'

const envelope = {
  idempotency_key: 'orch-remote-42-1767225600000',
  task_id: 42,
  task_uid: '6f1c2a9e',
  repository_id: 'repo',
  exec_lease_id: '17',
  payload: JSON.stringify({task_description: 'Lint.', processor: 'exec', template: 'lint', params: {file: 'a.js'}}),
}

const message = (payload: unknown): StoredMessage => ({
  id: 5,
  created_unix_ms: 1,
  acknowledged: false,
  delivery_attempts: 2,
  sender_agent_id: '9',
  receiver_agent_id: '2',
  message_type: 'remote_task_envelope',
  payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  priority: 128,
})

function job(payload: unknown) {
  const read = readJob(message(payload))
  return 'job' in read ? read.job : assert.fail(read.fault.message)
}

function fault(payload: unknown) {
  const read = readJob(message(payload))
  return 'fault' in read ? read : assert.fail('it is valid')
}

describe('readJob', () => {
  it('creates a task for the processors', () => {
    const {task, replyTo} = job(envelope)
    assert.equal(replyTo, '9', 'the sender, if the envelope names no inbox')
    const {id, uid, display_id, generation, processor, exec, correlation_id, category, description} = task
    assert.deepEqual([id, uid, display_id, generation], [42, '6f1c2a9e', 'T-0042', 2])
    assert.deepEqual([processor, description, category], ['exec', 'Lint.', 'general'])
    assert.deepEqual(exec, {template: 'lint', params: {file: 'a.js'}})
    assert.equal(correlation_id, envelope.idempotency_key)
  })

  it('prefers the session of the work over that of the envelope', () => {
    const payload = JSON.stringify({task_description: 'x', session_id: 's-1'})
    const {task} = job({...envelope, payload, session_id: 's-2', thread_id: 't-2', reply_to_agent_id: '11'})
    assert.deepEqual([task.session_id, task.thread_id, task.processor], ['s-1', 't-2', 'ai'])
  })

  it('reads the requirements and the required secrets', () => {
    const needs = JSON.stringify({min_vram_mb: 8192, required_secrets: ['KEY']})
    const {requirements, secrets} = job({...envelope, capability_requirements_json: needs})
    assert.deepEqual([requirements.min_vram_mb, secrets], [8192, ['KEY']])
  })

  it('reports the fault of an invalid message, and the delegation if it is readable', () => {
    const known = {idempotency_key: envelope.idempotency_key, task_id: 42, exec_lease_id: '17', replyTo: '9'}
    const cases: [payload: unknown, reason: RegExp][] = [
      [{...envelope, payload: '{'}, /its payload is not JSON/],
      [{...envelope, payload: '{}'}, /task_description/],
      [{...envelope, task_uid: undefined}, /no exec_lease_id or no task_uid/],
      [{...envelope, task_id: undefined}, /task_id/],
      [{...envelope, capability_requirements_json: '{"labels": 5}'}, /labels/],
      [{...envelope, payload: '{"task_description": "x", "params": {"a": 1}, "template": "t"}'}, /"a" is not a string/],
      [{...envelope, reply_to_agent_id: 'me'}, /reply_to_agent_id/],
    ]
    for (const [payload, reason] of cases) {
      const {fault: error, delegation} = fault(payload)
      assert.equal(error.code, 'remote_task_invalid')
      assert.match(error.message, reason)
      assert.deepEqual(delegation, {...known, fence_token: undefined}, reason.source)
    }
    for (const payload of ['{', '[]', '{}', '{"idempotency_key": "x"}', '{"idempotency_key": "a\\nb", "task_id": 1}'])
      assert.equal(fault(payload).delegation, undefined, payload)
  })
})

describe('holdClaim', () => {
  it('refuses a claim that has expired since the lease was verified', async () => {
    const claimed = {...message(envelope), lease_expires_unix_ms: 3000}
    const read = readJob(claimed)
    assert.ok('job' in read)
    const unused = async () => assert.fail('no request is needed')
    const mesh = {timeoutMs: 1000, renewClaim: unused, verifyLease: unused} as unknown as WorkerMesh
    const hold = (elapsedMs: number) =>
      holdClaim({
        ...{mesh, node: 'worker-1', receiver: '2', message: claimed, job: read.job},
        verified: {serverTimeMs: 1000, sentMs: performance.now() - elapsedMs},
        stop: new AbortController().signal,
        progress: () => ({}),
      })
    await assert.rejects(hold(2000), JobEnded)
    const held = await hold(0)
    held.requireHeld()
    await held.close()
  })
})
