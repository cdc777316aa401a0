/**
 * The mesh: nodes that join, hold leases with fencing tokens, and pass messages that are not lost. The protocol, the
 * control plane with its store, the client, and what a machine reports of itself as a node.
 *
 * Layers of the folders, the lowest first: protocol; store, client; store/sqlite, control-plane/auth; control-plane,
 * secrets; node, dashboard. `page/` has the static files of the dashboard.
 */

import type {ControlPlane, ControlPlaneOptions} from './control-plane/server.js'
import type {Dashboard, DashboardOptions} from './dashboard/server.js'

export {createMeshClient, type MeshClient, type MeshClientOptions} from './client/client.js'
export {type MeshFailure, MeshHttpError} from './client/error.js'
export {timeOf} from './client/every-node.js'
export {type HeldLease, type HoldOptions, holdLease, LeaseLoss} from './client/hold-lease.js'
export {type InboxPages, inboxPages} from './client/inbox-pages.js'
export {
  type Membership,
  type MembershipEvent,
  type MembershipOptions,
  startMembership,
} from './client/membership.js'
export {type NodeState, nodeState} from './client/node-state.js'
export type {
  BootstrapGrant,
  CallOptions,
  DeliverRequest,
  GrantedLease,
  HeartbeatRecord,
  InboxRequest,
  JoinRecord,
  NodesRequest,
  PageRequest,
} from './client/requests.js'
export {type MeshNode, type MeshSnapshot, takeSnapshot} from './client/snapshot.js'
export type {MeshTokens} from './client/tokens.js'
export {type Credentials, type MeshSecrets, readCredentials} from './control-plane/auth/credentials.js'
export type {ControlPlane, ControlPlaneOptions} from './control-plane/server.js'
export type {Dashboard, DashboardOptions} from './dashboard/server.js'
export {type Announcement, announceHere, whileAnnounced} from './node/announce.js'
export {configuredClient} from './node/configured-client.js'
export {type EventPlace, keepsControlEvents, meshFragment, recordControlEvent} from './node/control-events.js'
export {userFile} from './node/home.js'
export {type HostFacts, type HostProbe, probeHost, readHost} from './node/host.js'
export {loadProbe} from './node/load.js'
export {type LocalRegistry, publishNode, readLocalRegistry, registryPath} from './node/local-registry.js'
export {
  type LocalStatus,
  localStatus,
  type MeshEnvironment,
  type MeshSecurity,
  meshSecurity,
} from './node/local-status.js'
export {findOverlays, type Overlay} from './node/overlay.js'
export {type Pairing, pair} from './node/pair.js'
export {knownNodeId, nodeId, type SelfRecord, selfRecord} from './node/self-record.js'
export {type MeshState, type MeshStatus, meshStatus} from './node/status.js'
export {listEveryNode, type NodeChange, watchNodes} from './node/watch-nodes.js'
export type {AuditEntry, AuditPage} from './protocol/audit.js'
export type {ExecLease, LeaseVerification} from './protocol/lease.js'
export type {
  DeadMessage,
  DeadMessages,
  DeadOutcome,
  Delivered,
  MessageDraft,
  QueueStats,
  StoredMessage,
} from './protocol/message.js'
export type {CapabilityHints, HeartbeatReply, NodeFacts, NodeRecord, Registry} from './protocol/node.js'
export {mayUse, type Role, tokenVariables} from './protocol/roles.js'
export {type MeshOperation, routes} from './protocol/routes.js'
export {type MintedToken, mintToken} from './protocol/signed-token.js'
export {initMesh, type MeshInit, type MeshInitOptions} from './secrets/init.js'
export {meshSecretTexts, readMeshSecrets} from './secrets/read-secrets.js'
export {type MeshEnvValues, writeMeshEnv} from './secrets/write-mesh-env.js'
export {openSqliteMeshStore, type SqliteMeshStoreOptions} from './store/sqlite/open.js'

/** The web framework is loaded with the first server that starts. @throws what the server throws */
export const startControlPlane = async (options: ControlPlaneOptions): Promise<ControlPlane> =>
  (await import('./control-plane/server.js')).startControlPlane(options)

/** @throws port_in_use, address_unavailable */
export const startDashboard = async (options: DashboardOptions): Promise<Dashboard> =>
  (await import('./dashboard/server.js')).startDashboard(options)
