import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {SvcError} from '../../src/errors/index.js'
import {probeHost} from '../../src/mesh/index.js'
import {mergeCapabilities, noCapabilities, parseCapabilities} from '../../src/workspace/capabilities.js'

const host = {parallelism: 12, arch: 'x64', hostname: 'from-os'}

const accelerators = {
  SVC_MESH_ADVERTISE_GPU: 'gpu_cuda',
  SVC_MESH_ADVERTISE_VULKAN: 'gpu_vulkan',
  SVC_MESH_ADVERTISE_WEBGPU: 'gpu_webgpu',
  SVC_MESH_ADVERTISE_NPU: 'npu',
} as const

describe('capabilities on the wire', () => {
  it('can all be omitted', () => {
    assert.deepEqual(parseCapabilities({}), noCapabilities)
  })

  it('keep known members and drop unknown ones', () => {
    const all = {
      gpu_cuda: true,
      gpu_metal: true,
      gpu_vulkan: true,
      gpu_webgpu: true,
      npu: true,
      visual_eligible: true,
      multi_modal: true,
      prefer_gpu_compute: true,
      device_class: 'server',
      min_vram_mb: 24_576,
      min_cpu_cores: 4,
      cpu_cores: 16,
      arch: 'x86_64',
      hostname: 'gpu-1',
      routing_tier: 'local',
      labels: ['pool=dev', 'region=eu'],
    }
    assert.deepEqual(parseCapabilities({...all, fpga: true, nested: {npu: true}}), all)
  })

  it('treat null and blank text as missing and remove duplicate labels', () => {
    const read = parseCapabilities({
      npu: null,
      min_vram_mb: null,
      arch: null,
      hostname: '  ',
      labels: ['a', ' a ', '', 'b'],
    })
    assert.deepEqual(read, {...noCapabilities, labels: ['a', 'b']})
  })

  for (const [members, isEligible] of [
    [{visus_eligible: true}, true],
    [{visus_eligible: false}, false],
    [{visual_eligible: null, visus_eligible: true}, true],
    [{visual_eligible: false, visus_eligible: true}, false],
    [{visual_eligible: true, visus_eligible: false}, true],
  ] as const)
    it(`read visual_eligible as ${isEligible} from ${JSON.stringify(members)}`, () => {
      assert.deepEqual(parseCapabilities(members), {...noCapabilities, visual_eligible: isEligible})
    })

  it('accept zero amounts', () => {
    const {min_vram_mb, min_cpu_cores} = parseCapabilities({min_vram_mb: 0, min_cpu_cores: 0})
    assert.deepEqual([min_vram_mb, min_cpu_cores], [0, 0])
  })

  it('ignore members of the prototype', () => {
    assert.deepEqual(parseCapabilities(Object.create({npu: true})), noCapabilities)
  })

  const wrong: [value: unknown, says: string][] = [
    [{gpu_cuda: 'yes'}, 'The capability gpu_cuda must be true or false, not "yes".'],
    [{prefer_gpu_compute: 1}, 'The capability prefer_gpu_compute must be true or false, not 1.'],
    [{min_vram_mb: '8192'}, 'The capability min_vram_mb must be a whole number of at least 0, not "8192".'],
    [{cpu_cores: -1}, 'The capability cpu_cores must be a whole number of at least 0, not -1.'],
    [{min_cpu_cores: 1.5}, 'The capability min_cpu_cores must be a whole number of at least 0, not 1.5.'],
    [{arch: 64}, 'The capability arch must be a string, not 64.'],
    [{labels: 'pool=dev'}, 'The capability labels must be an array of strings, not "pool=dev".'],
    [{labels: ['a', 1]}, 'The capability labels must be an array of strings, not ["a",1].'],
    [['gpu_cuda'], 'Capabilities must be an object, not ["gpu_cuda"].'],
    [null, 'Capabilities must be an object, not null.'],
    [undefined, 'Capabilities must be an object, not nothing.'],
  ]
  for (const [value, says] of wrong)
    it(`are rejected as ${JSON.stringify(value)}`, () => {
      assert.throws(
        () => parseCapabilities(value),
        (error) => error instanceof SvcError && error.code === 'usage' && error.message === says,
      )
    })
})

describe('a new agent', () => {
  it('has the cores, architecture and name of the machine, whatever is configured', () => {
    const merged = mergeCapabilities(
      {...noCapabilities, cpu_cores: 1, arch: 'z80', hostname: 'old'},
      probeHost({}, host),
    )
    assert.deepEqual([merged.cpu_cores, merged.arch, merged.hostname], [12, 'x86_64', 'from-os'])
  })

  it('keeps configured values that the machine does not report', () => {
    const silent = probeHost({}, {parallelism: 0, arch: '', hostname: ''})
    const configured = {...noCapabilities, cpu_cores: 4, arch: 'aarch64', hostname: 'board', routing_tier: 'local'}
    assert.deepEqual(mergeCapabilities(configured, silent), configured)
  })

  it('has the configured labels first, then those of the machine, without duplicates', () => {
    const probe = probeHost({SVC_MESH_LABELS: 'b,c'}, host)
    assert.deepEqual(mergeCapabilities({...noCapabilities, labels: ['a', 'b']}, probe).labels, ['a', 'b', 'c'])
  })

  it('has an accelerator that is configured or advertised', () => {
    const advertised = probeHost({SVC_MESH_ADVERTISE_GPU: '1', SVC_MESH_ADVERTISE_NPU: '1'}, host)
    const merged = mergeCapabilities({...noCapabilities, gpu_vulkan: true, gpu_metal: true, npu: true}, advertised)
    const {gpu_cuda, gpu_vulkan, gpu_webgpu, gpu_metal, npu} = merged
    assert.deepEqual([gpu_cuda, gpu_vulkan, gpu_webgpu, gpu_metal, npu], [true, true, false, true, true])
    for (const flag of Object.values(accelerators)) {
      assert.equal(mergeCapabilities({...noCapabilities, [flag]: true}, probeHost({}, host))[flag], true)
      assert.equal(mergeCapabilities(noCapabilities, {...probeHost({}, host), [flag]: true})[flag], true)
      assert.equal(mergeCapabilities(noCapabilities, probeHost({}, host))[flag], false)
    }
  })

  it('has the configured class and minima, with gaps filled in by the machine', () => {
    const probe = {...probeHost({SVC_MESH_DEVICE_CLASS: 'server'}, host), min_vram_mb: 8192, min_cpu_cores: 2}
    const filled = mergeCapabilities(noCapabilities, probe)
    assert.deepEqual([filled.device_class, filled.min_vram_mb, filled.min_cpu_cores], ['server', 8192, 2])
    const configured = {...noCapabilities, device_class: 'desktop', min_vram_mb: 4096, min_cpu_cores: 1}
    const merged = mergeCapabilities(configured, probe)
    assert.deepEqual([merged.device_class, merged.min_vram_mb, merged.min_cpu_cores], ['desktop', 4096, 1])
  })

  it('offers the cores and the GPU memory of the machine unless they are configured', () => {
    const probe = probeHost({}, {...host, vramMb: 24_576})
    const filled = mergeCapabilities(noCapabilities, probe)
    assert.deepEqual([filled.min_cpu_cores, filled.min_vram_mb], [12, 24_576])
    const kept = mergeCapabilities({...noCapabilities, min_cpu_cores: 0, min_vram_mb: 0}, probe)
    assert.deepEqual([kept.min_cpu_cores, kept.min_vram_mb], [0, 0])
  })

  it('omits members without a value', () => {
    assert.ok(!('min_vram_mb' in mergeCapabilities(noCapabilities, probeHost({}, host))))
  })
})
