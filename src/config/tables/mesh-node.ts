import {settings} from '../setting.js'
import {boolean, choice, integer, path, text} from '../types.js'

/** This machine as a node of a mesh, and the requests that it sends. */
export const meshNodeSettings = settings('mesh', () => ({
  enabled: {
    type: boolean('flag'),
    env: ['SVC_MESH_ENABLED'],
    default: false,
    doc: 'Publish this node in the registry of this machine when a long-running command starts.',
  },
  nodeId: {
    type: text('a node id'),
    flag: 'node',
    env: ['SVC_MESH_NODE_ID'],
    doc: 'Id of this node; one that is kept in ~/.svc/mesh/node-id where it is left out.',
  },
  visibility: {
    type: choice('private', 'public', 'hybrid'),
    env: ['SVC_MESH_VISIBILITY'],
    doc: 'Whose work this node takes; private where it is left out.',
  },
  registryPath: {
    type: path(),
    env: ['SVC_MESH_REGISTRY_PATH'],
    doc: 'File with the nodes of this machine; ~/.svc/cache/mesh/local-registry.json where it is left out.',
  },
  httpJoin: {
    type: boolean('lenient'),
    env: ['SVC_MESH_HTTP_JOIN'],
    default: true,
    doc: 'Join the control plane where one is configured and the mesh is enabled.',
  },
  heartbeatSecs: {
    type: integer({min: 0, max: 86_400}),
    env: ['SVC_MESH_HTTP_HEARTBEAT_SECS'],
    default: 30,
    doc: 'Seconds between two heartbeats where the control plane names no other interval; 0 sends none.',
  },
  retryTransient: {
    type: boolean('lenient'),
    env: ['SVC_MESH_HTTP_RETRY_TRANSIENT'],
    default: true,
    doc: 'Repeat requests that failed for a reason that passes.',
  },
  codexTelemetry: {
    type: boolean('flag'),
    env: ['SVC_MESH_CODEX_TELEMETRY'],
    default: false,
    doc: 'Write down in the store what this workspace asked of the mesh; never a token.',
  },
}))
