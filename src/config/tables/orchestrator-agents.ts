import {sectionSettings} from '../setting.js'
import {boolean, integer, list, text} from '../types.js'

/** Default capabilities of agents. Rows are named like the JSON fields in which an agent reports its capabilities. */
export const defaultAgentCapabilitySettings = sectionSettings('orchestrator.default_agent_capabilities', () => ({
  gpu_cuda: {
    type: boolean('strict'),
    default: false,
    doc: 'Agents have a CUDA device.',
  },
  gpu_metal: {
    type: boolean('strict'),
    default: false,
    doc: 'Agents have a Metal device.',
  },
  gpu_vulkan: {
    type: boolean('strict'),
    default: false,
    doc: 'Agents have a Vulkan device.',
  },
  gpu_webgpu: {
    type: boolean('strict'),
    default: false,
    doc: 'Agents have a WebGPU device.',
  },
  npu: {
    type: boolean('strict'),
    default: false,
    doc: 'Agents have a neural processing unit.',
  },
  visual_eligible: {
    type: boolean('strict'),
    default: false,
    doc: 'Agents can view screen content.',
  },
  is_low_confidence_bypass_blocked: {
    type: boolean('strict'),
    doc: 'Results of agents need strong evidence even if the Socrates gate is off.',
  },
  multi_modal: {
    type: boolean('strict'),
    default: false,
    doc: 'Agents accept images and audio in addition to text.',
  },
  prefer_gpu_compute: {
    type: boolean('strict'),
    default: false,
    doc: 'Tasks of agents prefer an accelerator.',
  },
  device_class: {
    type: text('a class of devices'),
    doc: 'Device class of the machine: server, desktop, mobile, browser or another word.',
  },
  min_vram_mb: {
    type: integer({min: 0}),
    doc: 'Accelerator memory, in MiB.',
  },
  min_cpu_cores: {
    type: integer({min: 0}),
    doc: 'Number of CPU cores that tasks can rely on.',
  },
  cpu_cores: {
    type: integer({min: 1}),
    doc: 'Number of CPU cores, if the machine does not report it.',
  },
  arch: {
    type: text('an architecture'),
    doc: 'CPU architecture, such as x86_64 or aarch64, if the machine does not report it.',
  },
  hostname: {
    type: text('a host name'),
    doc: 'Host name, if the machine does not report it.',
  },
  routing_tier: {
    type: text('a tier'),
    doc: 'Tier of the models that agents use; local is this machine.',
  },
  labels: {
    type: list(),
    default: [] as readonly string[],
    doc: 'Labels of agents, such as pool=dev; mesh labels are added.',
  },
}))
