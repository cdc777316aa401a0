import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {failureResult, fitResult, successResult} from '../../../src/delegation/worker/result.js'
import {SvcError} from '../../../src/errors/index.js'
import {registerSecret} from '../../../src/log/index.js'
import {readResult} from '../../../src/mesh/index.js'

const task = {idempotency_key: 'orch-remote-4-1', task_id: 4, exec_lease_id: '17', fence_token: 17, replyTo: '9'}
const run = {node: 'worker-1', durationMs: 12.4, output: undefined}

const sizeOf = (result: object) => Buffer.byteLength(JSON.stringify(JSON.stringify(result)))

describe('the result of a delegated task', () => {
  it('contains the lease, the outcome and the usage', () => {
    const usage = {provider: 'local', model: 'm', inputTokens: 5, outputTokens: 2, costUsd: 0.1}
    const result = successResult(task, run, {text: 'seven', details: {model: 'm'}, usage}, [{path: 'a'}])
    assert.deepEqual(readResult(JSON.parse(JSON.stringify(result))), {
      idempotency_key: 'orch-remote-4-1',
      task_id: 4,
      exec_lease_id: '17',
      fence_token: 17,
      worker_node_id: 'worker-1',
      success: true,
      result: 'seven',
      duration_ms: 12,
      files: [{path: 'a'}],
      details: {model: 'm'},
      usage,
    })
  })

  it('contains the code and the message of an error', () => {
    const {success, error, details} = failureResult(task, run, new SvcError('exec_disabled', {}))
    assert.deepEqual([success, error], [false, 'exec_disabled: Commands are disabled in this workspace.'])
    assert.deepEqual(details, {error_code: 'exec_disabled'})
  })

  it('contains no registered secret, and no text that the control plane rejects', () => {
    registerSecret('canary-of-the-worker')
    const details = {stdout: 'canary-of-the-worker', api_key: 'x', half: '\ud83d'}
    const result = successResult(task, {...run, output: 'a canary-of-the-worker'}, {text: '\ude00', details}, [])
    assert.deepEqual([result.output, result.result, result.fence_token], ['a [redacted]', '\ufffd', 17])
    assert.deepEqual(result.details, {stdout: '[redacted]', api_key: '[redacted]', half: '\ufffd'})
    const {error} = failureResult(task, run, new Error('refused canary-of-the-worker'))
    assert.equal(error, 'internal: Internal error: refused [redacted]')
  })
})

describe('fitResult', () => {
  const long = (length: number) => 'é"\n'.repeat(length / 3)
  const outcome = {text: long(300_000), details: {exit_code: 0, stdout: long(300_000), deep: [{text: long(300_000)}]}}

  it('keeps a result that fits', () => {
    const result = successResult(task, run, {text: 'x', details: {}}, [])
    assert.equal(fitResult(result, 1792), result)
  })

  it('shortens the texts until the result fits', () => {
    const result = successResult(task, {...run, output: `${long(60_000)}end`}, outcome, [{path: 'a'}])
    for (const size of [458_752, 114_688, 28_672, 7168, 1792]) {
      const short = fitResult(result, size)
      assert.ok(sizeOf(short) <= size, `${sizeOf(short)} of ${size}`)
      assert.equal(short.success, true)
      assert.match(short.result ?? '', /^é"\n.*\[\d+ characters are missing here\]/s)
      assert.ok(short.output?.endsWith('end'))
      assert.equal((short.details as {truncated: boolean}).truncated, true)
      assert.deepEqual(short.files, [{path: 'a'}])
      readResult(JSON.parse(JSON.stringify(short)))
    }
  })

  it('turns a result with too many files into a failure', () => {
    const files = Array.from({length: 100}, (_, i) => ({path: `${i}/${'x'.repeat(200)}`}))
    const {success, error, files: listed} = fitResult(successResult(task, run, outcome, files), 7168)
    assert.deepEqual([success, listed], [false, undefined])
    assert.match(error ?? '', /^task_run_failed: .*does not fit in a message of 7168 bytes/)
  })
})
