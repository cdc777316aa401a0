import {settings} from '../setting.js'
import {boolean, choice, integer, path, text} from '../types.js'

/** This machine as a mesh node, and the requests that it sends. */
export const meshNodeSettings = settings('mesh', () => ({
  enabled: {
    type: boolean('flag'),
    env: ['SVC_MESH_ENABLED'],
    default: false,
    doc: 'Publish this node in the local registry when a long-running command starts.',
  },
  nodeId: {
    type: text('a node id'),
    flag: 'node',
    env: ['SVC_MESH_NODE_ID'],
    doc: 'Id of this node; default: the id stored in ~/.svc/mesh/node-id.',
  },
  visibility: {
    type: choice('private', 'public', 'hybrid'),
    env: ['SVC_MESH_VISIBILITY'],
    doc: 'Visibility of this node, which limits the messages it can claim; default: private.',
  },
  registryPath: {
    type: path(),
    env: ['SVC_MESH_REGISTRY_PATH'],
    doc: 'Registry file for the nodes on this machine; default: ~/.svc/cache/mesh/local-registry.json.',
  },
  httpJoin: {
    type: boolean('lenient'),
    env: ['SVC_MESH_HTTP_JOIN'],
    default: true,
    doc: 'Join the control plane if one is configured and the mesh is enabled.',
  },
  heartbeatSecs: {
    type: integer({min: 0, max: 86_400}),
    env: ['SVC_MESH_HTTP_HEARTBEAT_SECS'],
    default: 30,
    doc: 'Heartbeat interval in seconds, if the control plane sets none; 0 sends no heartbeats.',
  },
  retryTransient: {
    type: boolean('lenient'),
    env: ['SVC_MESH_HTTP_RETRY_TRANSIENT'],
    default: true,
    doc: 'Retry requests that fail with a transient error.',
  },
  codexTelemetry: {
    type: boolean('flag'),
    env: ['SVC_MESH_CODEX_TELEMETRY'],
    default: false,
    doc: 'Record the mesh requests of this workspace in its store, without tokens.',
  },
}))
