import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {nodeRow} from '../../../src/mesh/dashboard/node-row.js'
import type {NodeRow} from '../../../src/mesh/dashboard/view.js'
import type {NodeRecord} from '../../../src/mesh/index.js'

const clock = 1_000_000
const rowOf = (facts: Partial<NodeRecord>, staleAfterMs = 60_000) =>
  nodeRow(
    {id: 'a', version: '1', capabilities: {}, last_seen_unix_ms: clock, ...facts},
    {atMs: clock, staleMs: staleAfterMs, heartbeatMs: 15_000},
  )

const conditions: readonly [string, Partial<NodeRecord>, NodeRow['conditions']][] = [
  ['was just seen', {}, []],
  ['has missed a heartbeat', {last_seen_unix_ms: clock - 22_501}, ['suspect']],
  ['was seen just in time', {last_seen_unix_ms: clock - 60_000}, ['suspect']],
  ['was seen too long ago', {last_seen_unix_ms: clock - 60_001}, ['stale']],
  ['was seen in the future', {last_seen_unix_ms: clock + 90_000}, []],
  ['is in quarantine', {quarantined: true}, ['quarantined']],
  ['is in maintenance', {maintenance: true}, ['maintenance']],
  ['is in maintenance until later', {maintenance: true, maintenance_until_unix_ms: clock + 1}, ['maintenance']],
  ['was in maintenance until now', {maintenance: true, maintenance_until_unix_ms: clock}, []],
  [
    'has all conditions, most severe first',
    {quarantined: true, maintenance: true, last_seen_unix_ms: 0},
    ['quarantined', 'maintenance', 'stale'],
  ],
]

const gpus: readonly [string, Partial<NodeRecord>, readonly string[]][] = [
  ['has no GPU', {gpu_total_count: 0, gpu_allocatable_count: 0}, []],
  ['has detected GPUs', {gpu_total_count: 2, gpu_healthy_count: 2, gpu_allocatable_count: 1}, ['2 GPUs', '1 free']],
  ['has an unhealthy GPU', {gpu_total_count: 2, gpu_healthy_count: 1}, ['2 GPUs', '1 healthy']],
  [
    'has advertised accelerators',
    {capabilities: {gpu_cuda: true, npu: true, min_vram_mb: 24_576}},
    ['CUDA', 'NPU', '24 GiB'],
  ],
  ['has little memory', {gpu_total_count: 1, capabilities: {min_vram_mb: 512}}, ['1 GPU', '512 MiB']],
  ['is not ready', {gpu_readiness_ok: false, gpu_readiness_reason: 'no driver'}, ['not ready: no driver']],
]

describe('nodeRow', () => {
  for (const [name, facts, expected] of conditions)
    it(`${name}: ${expected.join(', ') || 'OK'}`, () => assert.deepEqual(rowOf(facts).conditions, expected))

  it('is at most suspect with the threshold 0', () =>
    assert.deepEqual(rowOf({last_seen_unix_ms: 0}, 0).conditions, ['suspect']))

  for (const [name, facts, expected] of gpus)
    it(`${name}: ${expected.join(', ') || 'no GPU'}`, () => assert.deepEqual(rowOf(facts).gpu, expected))

  it('shows CPU cores, architecture and usage', () => {
    const {cpu, cpu_usage_pct: usage} = rowOf({capabilities: {cpu_cores: 1, arch: 'arm64'}, cpu_usage_pct: 63.5})
    assert.deepEqual([cpu, usage], [['1 core', 'arm64'], 64])
    assert.deepEqual(rowOf({}).cpu, [])
    assert.equal('cpu_usage_pct' in rowOf({}), false)
  })

  it('shows the number of running tasks if the node accepts tasks', () => {
    assert.equal(rowOf({running_tasks: 0}).running_tasks, 0)
    assert.equal('running_tasks' in rowOf({}), false)
  })

  it('shows the end of current maintenance', () => {
    const until = (facts: Partial<NodeRecord>) => rowOf(facts).maintenance_until_unix_ms
    assert.equal(until({maintenance: true, maintenance_until_unix_ms: clock + 5}), clock + 5)
    assert.equal(until({maintenance: true, maintenance_until_unix_ms: clock - 5}), undefined)
  })
})
