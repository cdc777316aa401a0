import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {type NodeRecord, probeGpus, readHost, selfRecord} from '../../../src/mesh/index.js'
import {spawnAgent} from '../../../src/orchestrator/index.js'
import {workingAgents} from '../../../src/tasks/agents/agent-rows.js'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {gpuList, pathWithNvidiaSmi} from '../../support/nvidia-smi.js'
import {orchWorkspace} from '../../support/orch-workspace.js'
import {temporaryFolder} from '../../support/temporary.js'

const twoGpus = gpuList('8192, Default, 550.54.15', '24576, Exclusive_Process, 550.54.15')

/** Record of the machine with a program `nvidia-smi`. */
async function recordWith(t: TestContext, script: string, env: Readonly<Record<string, string>> = {}) {
  await memoryWith(t, script, env)
  const {capabilities, ...record} = await selfRecord({env: {SVC_MESH_NODE_ID: 'n', ...env}}, '1')
  const gpus = Object.entries(record).filter(([name]) => /gpu|nvidia/.test(name))
  return {vramMb: capabilities.min_vram_mb, ...(Object.fromEntries(gpus) as Partial<NodeRecord>)}
}

async function memoryWith(t: TestContext, script: string, env: Readonly<Record<string, string>> = {}) {
  t.after(() => probeGpus({env: {SVC_MESH_GPU_READINESS_PROBE_OFF: '1'}}))
  await probeGpus({env: {PATH: await pathWithNvidiaSmi(t, script), ...env}})
  return readHost().vramMb
}

describe('probeGpus', {skip: process.platform === 'win32' && 'The program is a shell script.'}, () => {
  it('reports the memory of the largest GPU', async (t) => assert.equal(await memoryWith(t, twoGpus), 24_576))

  for (const value of ['1', 'true'])
    it(`runs nothing with SVC_MESH_GPU_READINESS_PROBE_OFF=${value}`, async (t) =>
      assert.equal(await memoryWith(t, twoGpus, {SVC_MESH_GPU_READINESS_PROBE_OFF: value}), undefined))

  for (const [what, script] of [
    ['fails', 'echo 8192; exit 9'],
    ['prints no number', 'echo "[N/A]"'],
    ['does not end', 'exec sleep 60'],
  ] as const)
    it(`reports nothing if nvidia-smi ${what}`, async (t) => assert.equal(await memoryWith(t, script), undefined))

  it('reports nothing if there is no nvidia-smi', async () => {
    await probeGpus({env: {PATH: '/missing'}})
    assert.equal(readHost().vramMb, undefined)
  })

  const probed = {gpu_inventory_source: 'probed', gpu_truth_layer: 'layer_a_verified'}
  const driver = {nvidia_driver_version: '550.54.15'}
  const counts = (total: number, healthy: number, allocatable: number) => ({
    gpu_total_count: total,
    gpu_healthy_count: healthy,
    gpu_allocatable_count: allocatable,
  })
  const unready = (reason: string) => ({gpu_readiness_ok: false, gpu_readiness_reason: reason})
  const prohibited = '8192, Prohibited, 550.54.15'
  const faulty = '[Unknown Error], [GPU requires reset], [Unknown Error]'
  for (const [what, script, expected] of [
    ['two GPUs', twoGpus, {vramMb: 24_576, ...counts(2, 2, 2), ...probed, ...driver, gpu_readiness_ok: true}],
    [
      'a faulty GPU and another one',
      gpuList(faulty, '8192, Default, 550.54.15'),
      {vramMb: 8192, ...counts(2, 1, 1), ...probed, ...driver, gpu_readiness_ok: true},
    ],
    [
      'only faulty GPUs',
      gpuList(faulty, faulty),
      {...counts(2, 0, 0), ...probed, ...unready('nvidia-smi reports an error for all 2 GPUs')},
    ],
    [
      'a GPU that accepts no programs',
      gpuList(prohibited),
      {vramMb: 8192, ...counts(1, 1, 0), ...probed, ...driver, ...unready('the compute mode Prohibited is set')},
    ],
    [
      'a GPU without memory of its own',
      gpuList('[N/A], Default, 550.54.15'),
      {...counts(1, 1, 1), ...probed, ...driver, gpu_readiness_ok: true},
    ],
    ['no GPU', 'echo No devices were found', {...counts(0, 0, 0), ...probed, ...unready('nvidia-smi lists no GPU')}],
    ['an error', 'exit 9', unready('nvidia-smi exited with status 9')],
    ['nothing in time', 'exec sleep 60', unready('nvidia-smi did not respond within 2 s')],
  ] as const)
    it(`reports ${what} in the record of the node`, async (t) => {
      const before = Date.now()
      const {gpu_readiness_checked_unix_ms: checked = 0, ...record} = await recordWith(t, script)
      assert.deepEqual(record, {vramMb: undefined, ...expected})
      assert.ok(checked >= before && checked <= Date.now())
    })

  it('replaces the advertised inventory only if the query succeeds', async (t) => {
    const advertised = {SVC_MESH_ADVERTISE_GPU: '1'}
    const layer = async (script: string) => {
      const {
        gpu_inventory_source: source,
        gpu_truth_layer: layer,
        gpu_total_count: count,
      } = await recordWith(t, script, advertised)
      return [source, layer, count]
    }
    assert.deepEqual(await layer(twoGpus), ['probed', 'layer_a_verified', 2])
    assert.deepEqual(await layer('exit 9'), ['advertised', 'layer_c_advertised', undefined])
  })

  it('runs nvidia-smi once for concurrent calls', async (t) => {
    const trace = join(await temporaryFolder(t), 'trace')
    const env = {PATH: await pathWithNvidiaSmi(t, `echo run >> '${trace}'; ${twoGpus}`)}
    t.after(() => probeGpus({env: {SVC_MESH_GPU_READINESS_PROBE_OFF: '1'}}))
    await Promise.all([probeGpus({env}), probeGpus({env})])
    assert.equal(await readFile(trace, 'utf8'), 'run\n')
  })

  it('is not part of the commands of svc orch', async (t) => {
    const trace = join(await temporaryFolder(t), 'trace')
    const {alone} = await orchWorkspace(t)
    const env = {PATH: await pathWithNvidiaSmi(t, `echo run >> '${trace}'; ${twoGpus}`), SVC_MESH_ENABLED: '1'}
    for (const args of [
      ['orch', 'submit', 'something'],
      ['orch', 'status'],
    ]) {
      const {exitCode, stderr} = await alone(args, {env})
      assert.equal(exitCode, 0, stderr)
    }
    await assert.rejects(readFile(trace), {code: 'ENOENT'})
  })

  for (const [toml, expected] of [
    ['', 24_576],
    ['[orchestrator.default_agent_capabilities]\nmin_vram_mb = 4096\n', 4096],
  ] as const)
    it(`gives new agents ${expected} MiB with the settings ${JSON.stringify(toml)}`, async (t) => {
      assert.equal(await memoryWith(t, twoGpus), 24_576)
      const orchestrator = await openTestOrchestrator(t, {toml})
      spawnAgent(orchestrator, {name: 'new'})
      const agent = workingAgents(orchestrator).find(({name}) => name === 'new')
      assert.equal(JSON.parse(agent?.capabilities ?? '{}').min_vram_mb, expected)
    })
})
