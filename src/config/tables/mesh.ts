import {settings} from '../setting.js'
import {baseUrl, boolean, integer, list, text} from '../types.js'

/** How this workspace takes part in a mesh. */
export const meshSettings = settings('mesh', () => ({
  controlUrl: {
    type: baseUrl(),
    flag: 'control-url',
    env: ['SVC_ORCHESTRATOR_MESH_CONTROL_URL', 'SVC_MESH_CONTROL_ADDR'],
    toml: ['mesh.control_url', 'orchestrator.mesh_control_url'],
    clears: ['SVC_ORCHESTRATOR_MESH_CONTROL_URL'],
    doc: 'Base address of the control plane.',
  },
  inferenceBaseUrl: {
    type: baseUrl(),
    env: ['SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL'],
    toml: ['mesh.inference_base_url', 'orchestrator.mesh_inference_base_url', 'orchestrator.populi_inference_base_url'],
    clears: ['SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL'],
    doc: 'Inference server meant for processes of this mesh; launchers export it as SVC_INFERENCE_URL.',
  },
  scopeId: {
    type: text('a scope id'),
    env: ['SVC_MESH_SCOPE_ID'],
    toml: ['mesh.scope_id', 'orchestrator.mesh_scope_id'],
    clears: ['SVC_MESH_SCOPE_ID'],
    doc: 'Tenancy boundary: processes that share membership use the same value.',
  },
  token: {
    type: text('a token'),
    env: ['SVC_MESH_TOKEN'],
    secret: true,
    doc: 'Bearer token of the control plane.',
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
    doc: 'Labels of this machine, beside those of the file.',
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
  maxStaleMs: {
    type: integer({min: 0}),
    env: ['SVC_MESH_MAX_STALE_MS'],
    default: 0,
    doc: 'Milliseconds after which a node that was not heard of is left out of what is shown of the mesh; 0 shows all.',
  },
  deviceClass: {
    type: text('a class of devices'),
    env: ['SVC_MESH_DEVICE_CLASS'],
    doc: 'Kind of this machine: server, desktop, mobile, browser or another word.',
  },
}))
