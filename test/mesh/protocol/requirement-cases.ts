import type {CapabilityHints} from '../../../src/mesh/protocol/node.js'

/**
 * Requirements with a node that meets them and one that does not; undefined if every node meets them. The rule exists in
 * TypeScript, which SQLite calls, and as a function of PostgreSQL: all are tested with these cases.
 */
export const requirementCases: readonly (readonly [
  needed: CapabilityHints,
  able: CapabilityHints,
  unable: CapabilityHints | undefined,
])[] = [
  [{}, {}, undefined],
  [{gpu_cuda: false}, {}, undefined],
  [{min_vram_mb: 0, min_cpu_cores: 0, labels: []}, {}, undefined],
  [{gpu_cuda: true}, {gpu_cuda: true}, {gpu_cuda: false, gpu_metal: true}],
  [{gpu_metal: true}, {gpu_metal: true}, {gpu_cuda: true}],
  [{gpu_vulkan: true}, {gpu_vulkan: true}, {gpu_cuda: true}],
  [{gpu_webgpu: true}, {gpu_webgpu: true}, {gpu_cuda: true}],
  [{visual_eligible: true}, {visual_eligible: true}, {}],
  [{multi_modal: true}, {multi_modal: true}, {visual_eligible: true}],
  [{prefer_gpu_compute: true}, {gpu_vulkan: true}, {visual_eligible: true}],
  [{prefer_gpu_compute: true}, {npu: true}, {gpu_cuda: false}],
  [{min_vram_mb: 8192}, {min_vram_mb: 8192}, {min_vram_mb: 8191}],
  [{min_cpu_cores: 4}, {cpu_cores: 4}, {cpu_cores: 3, min_cpu_cores: 4}],
  [{min_cpu_cores: 4}, {min_cpu_cores: 5}, {}],
  [{labels: ['a', 'b=1']}, {labels: ['b=1', 'c', 'a']}, {labels: ['a', 'b=2']}],
  [{labels: ['a', 'a']}, {labels: ['a']}, {}],
  [{arch: 'aarch64'}, {arch: 'aarch64'}, {arch: 'x86_64'}],
  [{device_class: 'server'}, {device_class: 'server'}, {}],
  [{npu: true, labels: ['a']}, {npu: true, labels: ['a']}, {npu: true}],
]
