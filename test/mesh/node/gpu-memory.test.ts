import assert from 'node:assert/strict'
import {chmod} from 'node:fs/promises'
import {delimiter, join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {probeGpuMemory, readHost} from '../../../src/mesh/index.js'
import {spawnAgent} from '../../../src/orchestrator/index.js'
import {workingAgents} from '../../../src/tasks/index.js'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

/** A `PATH` with a program `nvidia-smi`. */
async function pathWith(t: TestContext, script: string): Promise<string> {
  const folder = await temporaryFolder(t)
  await writeFiles(folder, {'nvidia-smi': `#!/bin/sh\n${script}\n`})
  await chmod(join(folder, 'nvidia-smi'), 0o755)
  return `${folder}${delimiter}${process.env.PATH}`
}

const twoGpus = `[ "$*" = "--query-gpu=memory.total --format=csv,noheader,nounits" ] && printf '8192\\n24576\\n'`

async function memoryWith(t: TestContext, script: string, env: Readonly<Record<string, string>> = {}) {
  t.after(() => probeGpuMemory({env: {SVC_MESH_GPU_READINESS_PROBE_OFF: '1'}}))
  await probeGpuMemory({env: {PATH: await pathWith(t, script), ...env}})
  return readHost().vramMb
}

describe('probeGpuMemory', {skip: process.platform === 'win32' && 'The program is a shell script.'}, () => {
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
    await probeGpuMemory({env: {PATH: '/missing'}})
    assert.equal(readHost().vramMb, undefined)
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
