import {sectionSettings} from '../setting.js'
import {boolean, integer, list, text} from '../types.js'

/** What an agent has unless something else is found. Rows have the names of the wire, where an agent tells the same. */
export const defaultAgentCapabilitySettings = sectionSettings('orchestrator.default_agent_capabilities', () => ({
  gpu_cuda: {
    type: boolean('strict'),
    default: false,
    doc: 'An agent has a CUDA device.',
  },
  gpu_metal: {
    type: boolean('strict'),
    default: false,
    doc: 'An agent has a Metal device.',
  },
  gpu_vulkan: {
    type: boolean('strict'),
    default: false,
    doc: 'An agent has a Vulkan device.',
  },
  gpu_webgpu: {
    type: boolean('strict'),
    default: false,
    doc: 'An agent has a WebGPU device.',
  },
  npu: {
    type: boolean('strict'),
    default: false,
    doc: 'An agent has a neural processing unit.',
  },
  visual_eligible: {
    type: boolean('strict'),
    default: false,
    doc: 'An agent can look at what is on a screen.',
  },
  multi_modal: {
    type: boolean('strict'),
    default: false,
    doc: 'An agent takes images and sound beside text.',
  },
  prefer_gpu_compute: {
    type: boolean('strict'),
    default: false,
    doc: 'Tasks of an agent are better computed on an accelerator.',
  },
  device_class: {
    type: text('a class of devices'),
    doc: 'Kind of machine: server, desktop, mobile, browser or another word.',
  },
  min_vram_mb: {
    type: integer({min: 0}),
    doc: 'Memory of the accelerator in MiB.',
  },
  min_cpu_cores: {
    type: integer({min: 0}),
    doc: 'Processor cores that tasks may count on.',
  },
  cpu_cores: {
    type: integer({min: 1}),
    doc: 'Processor cores, where the machine does not tell.',
  },
  arch: {
    type: text('an architecture'),
    doc: 'Architecture, such as x86_64 or aarch64, where the machine does not tell.',
  },
  hostname: {
    type: text('a host name'),
    doc: 'Name of the machine, where it does not tell.',
  },
  routing_tier: {
    type: text('a tier'),
    doc: 'Tier of the models that an agent asks; local is this machine.',
  },
  labels: {
    type: list(),
    default: [] as readonly string[],
    doc: 'Labels of an agent, such as pool=dev; those of the mesh are added.',
  },
}))
