import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {createCall, type OperationContext, operationNamed} from '../../src/operations/index.js'
import type {Benchmark} from '../../src/telemetry/index.js'
import {openContext} from './support/open-context.js'
import {violations} from './support/violations.js'

/** Calls operations in a new workspace; each answer must match its schema. */
async function workspace(test: TestContext, more: Partial<OperationContext> = {}, env: Record<string, string> = {}) {
  const context = await openContext(test, more, env)
  const call = async (name: string, input: object = {}) => {
    const row = operationNamed(name)
    const answer = (await createCall(row, name).perform(input, context)) as Readonly<Record<string, unknown>>
    assert.deepEqual(violations(row.output, answer), [])
    return answer
  }
  const list = async (input: object = {}) => (await call('benchmark_list', input)).benchmarks as Benchmark[]
  return {call, list, context}
}

const names = (rows: readonly Benchmark[]) => rows.map(({metadata}) => metadata?.name)

describe('benchmark_record', () => {
  it('records a benchmark_event of the repository with its source', async (t) => {
    const {call, list, context} = await workspace(t)
    const details = {files: 120, run_id: 'r1'}
    const recorded = await call('benchmark_record', {name: 'corpus_build', fixture_id: 'docs', value: 41.5, details})
    assert.deepEqual(recorded, {recorded: true, id: 1})
    const {repositoryId} = context.orchestrator
    const [{created_at: _, ...row} = {} as Benchmark] = await list()
    assert.deepEqual(row, {
      id: 1,
      session_id: `bench:${repositoryId}`,
      metric_type: 'benchmark_event',
      metric_value: 41.5,
      metadata: {name: 'corpus_build', repository_id: repositoryId, fixture_id: 'docs', source: 'daemon', details},
    })
  })

  it('records null without a value, which is not 0', async (t) => {
    const {call, list} = await workspace(t)
    await call('benchmark_record', {name: 'a'})
    await call('benchmark_record', {name: 'b', value: 0})
    assert.deepEqual(
      (await list()).map(({metric_value: value}) => value),
      [0, null],
    )
  })

  it('records nothing with SVC_TELEMETRY=off', async (t) => {
    const {call, list} = await workspace(t, {}, {SVC_TELEMETRY: 'off'})
    assert.deepEqual(await call('benchmark_record', {name: 'a', value: 1}), {recorded: false})
    assert.deepEqual(await list(), [])
  })

  it('reports details that are too large as not recorded', async (t) => {
    const {call, list} = await workspace(t)
    const details = {text: 'x'.repeat(256 * 1024)}
    assert.deepEqual(await call('benchmark_record', {name: 'a', details}), {recorded: false})
    assert.deepEqual(await list(), [])
  })

  it('rejects other metric types', async (t) => {
    const {call} = await workspace(t)
    const type = {metric_type: 'mesh_control_event'}
    await assert.rejects(call('benchmark_record', {name: 'a', ...type}), {code: 'params_invalid'})
    await assert.rejects(call('benchmark_list', type), {code: 'params_invalid'})
  })
})

describe('benchmark_list', () => {
  it('lists the newest first, up to the limit', async (t) => {
    const {call, list} = await workspace(t)
    for (let i = 1; i <= 60; i++) await call('benchmark_record', {name: `b${i}`})
    assert.deepEqual(names(await list({limit: 2})), ['b60', 'b59'])
    assert.equal((await list()).length, 50)
    assert.equal((await list({limit: 500})).length, 60)
  })

  it('filters by type, source and run_id, and does not list other repositories', async (t) => {
    const {call, list, context} = await workspace(t, {surface: 'mcp'})
    const {orchestrator, modules} = context
    await call('benchmark_record', {name: 'b', details: {run_id: 'r1'}})
    await call('benchmark_record', {name: 'syntax_k', metric_type: 'syntax_k_event', value: 702})
    modules.telemetry.recordBenchmark(orchestrator, {type: 'benchmark_event', name: 'of a command', value: 1})
    const other = {store: orchestrator.store, isKept: true, repositoryId: '9c3b5d2f0a417e68'}
    modules.telemetry.recordBenchmark(other, {type: 'benchmark_event', name: 'elsewhere', value: 1})
    assert.deepEqual(names(await list()), ['of a command', 'b'])
    assert.deepEqual(names(await list({source: 'mcp'})), ['b'])
    assert.deepEqual(names(await list({source: 'cli'})), ['of a command'])
    assert.deepEqual(names(await list({run_id: 'r1'})), ['b'])
    assert.deepEqual(names(await list({run_id: 'r2'})), [])
    assert.deepEqual(names(await list({metric_type: 'syntax_k_event'})), ['syntax_k'])
  })
})
