import {settings} from '../setting.js'
import {baseUrl, boolean, integer, list, text} from '../types.js'

/** The mesh that this workspace belongs to. */
export const meshSettings = settings('mesh', () => ({
  controlUrl: {
    type: baseUrl(),
    flag: 'control-url',
    env: ['SVC_ORCHESTRATOR_MESH_CONTROL_URL', 'SVC_MESH_CONTROL_ADDR'],
    toml: ['mesh.control_url', 'orchestrator.mesh_control_url'],
    clears: ['SVC_ORCHESTRATOR_MESH_CONTROL_URL'],
    doc: 'Base URL of the control plane.',
  },
  inferenceBaseUrl: {
    type: baseUrl(),
    env: ['SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL'],
    toml: ['mesh.inference_base_url', 'orchestrator.mesh_inference_base_url', 'orchestrator.populi_inference_base_url'],
    clears: ['SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL'],
    doc: 'Inference server for processes of this mesh; launchers export it as SVC_INFERENCE_URL.',
  },
  scopeId: {
    type: text('a scope id'),
    env: ['SVC_MESH_SCOPE_ID'],
    toml: ['mesh.scope_id', 'orchestrator.mesh_scope_id'],
    clears: ['SVC_MESH_SCOPE_ID'],
    doc: 'Scope id, the tenancy boundary: all processes of a mesh use the same value.',
  },
  token: {
    type: text('a token'),
    env: ['SVC_MESH_TOKEN'],
    secret: true,
    doc: 'Bearer token for the control plane.',
  },
  labels: {
    type: list(),
    toml: ['mesh.labels'],
    default: [] as readonly string[],
    doc: 'Labels of this node.',
  },
  hostLabels: {
    type: list(),
    env: ['SVC_MESH_LABELS'],
    default: [] as readonly string[],
    doc: 'Labels of this machine, in addition to mesh.labels.',
  },
  advertiseGpu: {
    type: boolean('flag'),
    env: ['SVC_MESH_ADVERTISE_GPU'],
    toml: ['mesh.advertise_gpu'],
    default: false,
    doc: 'Advertise a CUDA device to the mesh.',
  },
  advertiseVulkan: {
    type: boolean('flag'),
    env: ['SVC_MESH_ADVERTISE_VULKAN'],
    default: false,
    doc: 'Advertise a Vulkan device to the mesh.',
  },
  advertiseWebgpu: {
    type: boolean('flag'),
    env: ['SVC_MESH_ADVERTISE_WEBGPU'],
    default: false,
    doc: 'Advertise a WebGPU device to the mesh.',
  },
  advertiseNpu: {
    type: boolean('flag'),
    env: ['SVC_MESH_ADVERTISE_NPU'],
    default: false,
    doc: 'Advertise a neural processing unit to the mesh.',
  },
  gpuProbeOff: {
    type: boolean('flag'),
    env: ['SVC_MESH_GPU_READINESS_PROBE_OFF'],
    default: false,
    doc: 'Do not query the GPUs of this machine with nvidia-smi when a long-running command starts.',
  },
  maxStaleMs: {
    type: integer({min: 0}),
    flag: 'max-stale-ms',
    env: ['SVC_MESH_MAX_STALE_MS'],
    default: 0,
    doc: 'Time without a heartbeat after which mesh reports omit a node, in milliseconds; 0 shows all nodes.',
  },
  deviceClass: {
    type: text('a class of devices'),
    env: ['SVC_MESH_DEVICE_CLASS'],
    doc: 'Device class of this machine: server, desktop, mobile, browser or another word.',
  },
}))
