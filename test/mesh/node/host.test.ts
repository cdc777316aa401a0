import assert from 'node:assert/strict'
import os from 'node:os'
import {describe, it} from 'node:test'
import {probeHost, readHost} from '../../../src/mesh/index.js'
import {hostTriple} from '../../../src/mesh/node/host.js'

const host = {parallelism: 12, arch: 'x64', hostname: 'from-os'}

const accelerators = {
  SVC_MESH_ADVERTISE_GPU: 'gpu_cuda',
  SVC_MESH_ADVERTISE_VULKAN: 'gpu_vulkan',
  SVC_MESH_ADVERTISE_WEBGPU: 'gpu_webgpu',
  SVC_MESH_ADVERTISE_NPU: 'npu',
} as const

describe('probeHost', () => {
  it('reports cores, architecture and hostname', () => {
    const probe = probeHost({}, host)
    assert.deepEqual([probe.cpu_cores, probe.arch, probe.hostname], [12, 'x86_64', 'from-os'])
  })

  it('reads the current machine', () => {
    const {cpu_cores, arch, hostname} = probeHost({}, readHost())
    assert.equal(cpu_cores, os.availableParallelism())
    assert.equal(hostname, os.hostname())
    assert.ok(arch !== undefined && !['x64', 'arm64'].includes(arch))
  })

  const architectures = {x64: 'x86_64', arm64: 'aarch64', riscv64: 'riscv64'}
  for (const [arch, name] of Object.entries(architectures))
    it(`maps ${arch} to ${name}`, () => assert.equal(probeHost({}, {...host, arch}).arch, name))

  const names: [env: Record<string, string>, hostname: string][] = [
    [{HOSTNAME: 'a', COMPUTERNAME: 'b'}, 'a'],
    [{HOSTNAME: '', COMPUTERNAME: 'b'}, 'b'],
    [{HOSTNAME: ' ', COMPUTERNAME: ''}, 'from-os'],
  ]
  for (const [env, hostname] of names)
    it(`uses the hostname ${hostname} with ${JSON.stringify(env)}`, () =>
      assert.equal(probeHost(env, host).hostname, hostname))

  it('omits an unknown hostname', () => {
    assert.ok(!('hostname' in probeHost({HOSTNAME: ''}, {...host, hostname: ''})))
  })

  for (const [variable, flag] of Object.entries(accelerators))
    it(`sets only ${flag} with ${variable}`, () => {
      const others = Object.values(accelerators).filter((other) => other !== flag)
      for (const yes of ['1', 'true', ' TRUE ']) {
        const probe = probeHost({[variable]: yes}, host)
        assert.equal(probe[flag], true)
        for (const other of others) assert.equal(probe[other], false)
      }
      for (const no of ['0', 'yes', 'on', '']) assert.equal(probeHost({[variable]: no}, host)[flag], false)
    })

  it('reads device class and labels from the environment', () => {
    const probe = probeHost({SVC_MESH_DEVICE_CLASS: ' server ', SVC_MESH_LABELS: 'pool=a, region=eu,,pool=a'}, host)
    assert.equal(probe.device_class, 'server')
    assert.deepEqual(probe.labels, ['pool=a', 'region=eu'])
    assert.ok(!('device_class' in probeHost({SVC_MESH_DEVICE_CLASS: ' '}, host)))
  })

  it('builds the host triple', () => {
    assert.equal(hostTriple(host, 'linux'), 'x86_64-unknown-linux')
    assert.equal(hostTriple({...host, arch: 'arm64'}, 'darwin'), 'aarch64-apple-darwin')
    assert.equal(hostTriple({...host, arch: 'riscv64'}, 'plan9'), 'riscv64-unknown-plan9')
  })
})
