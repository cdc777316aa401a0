import {settings} from '../setting.js'
import {boolean, integer, list, text} from '../types.js'

/** What an agent has unless something else is found. Rows have the names of the wire, where an agent tells the same. */
export const defaultAgentCapabilitySettings = settings('orchestrator.default_agent_capabilities', () => ({
  gpu_cuda: {
    type: boolean('strict'),
    toml: ['orchestrator.default_agent_capabilities.gpu_cuda'],
    default: false,
    doc: 'An agent has a CUDA device.',
  },
  gpu_metal: {
    type: boolean('strict'),
    toml: ['orchestrator.default_agent_capabilities.gpu_metal'],
    default: false,
    doc: 'An agent has a Metal device.',
  },
  gpu_vulkan: {
    type: boolean('strict'),
    toml: ['orchestrator.default_agent_capabilities.gpu_vulkan'],
    default: false,
    doc: 'An agent has a Vulkan device.',
  },
  gpu_webgpu: {
    type: boolean('strict'),
    toml: ['orchestrator.default_agent_capabilities.gpu_webgpu'],
    default: false,
    doc: 'An agent has a WebGPU device.',
  },
  npu: {
    type: boolean('strict'),
    toml: ['orchestrator.default_agent_capabilities.npu'],
    default: false,
    doc: 'An agent has a neural processing unit.',
  },
  visual_eligible: {
    type: boolean('strict'),
    toml: ['orchestrator.default_agent_capabilities.visual_eligible'],
    default: false,
    doc: 'An agent can look at what is on a screen.',
  },
  multi_modal: {
    type: boolean('strict'),
    toml: ['orchestrator.default_agent_capabilities.multi_modal'],
    default: false,
    doc: 'An agent takes images and sound beside text.',
  },
  prefer_gpu_compute: {
    type: boolean('strict'),
    toml: ['orchestrator.default_agent_capabilities.prefer_gpu_compute'],
    default: false,
    doc: 'Tasks of an agent are better computed on an accelerator.',
  },
  device_class: {
    type: text('a class of devices'),
    toml: ['orchestrator.default_agent_capabilities.device_class'],
    doc: 'Kind of machine: server, desktop, mobile, browser or another word.',
  },
  min_vram_mb: {
    type: integer({min: 0}),
    toml: ['orchestrator.default_agent_capabilities.min_vram_mb'],
    doc: 'Memory of the accelerator in MiB.',
  },
  min_cpu_cores: {
    type: integer({min: 0}),
    toml: ['orchestrator.default_agent_capabilities.min_cpu_cores'],
    doc: 'Processor cores that tasks may count on.',
  },
  cpu_cores: {
    type: integer({min: 1}),
    toml: ['orchestrator.default_agent_capabilities.cpu_cores'],
    doc: 'Processor cores, where the machine does not tell.',
  },
  arch: {
    type: text('an architecture'),
    toml: ['orchestrator.default_agent_capabilities.arch'],
    doc: 'Architecture, such as x86_64 or aarch64, where the machine does not tell.',
  },
  hostname: {
    type: text('a host name'),
    toml: ['orchestrator.default_agent_capabilities.hostname'],
    doc: 'Name of the machine, where it does not tell.',
  },
  routing_tier: {
    type: text('a tier'),
    toml: ['orchestrator.default_agent_capabilities.routing_tier'],
    doc: 'Tier of the models that an agent asks; local is this machine.',
  },
  labels: {
    type: list(),
    toml: ['orchestrator.default_agent_capabilities.labels'],
    default: [] as readonly string[],
    doc: 'Labels of an agent, such as pool=dev; those of the mesh are added.',
  },
}))
