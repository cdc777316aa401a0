/**
 * Mesh of nodes with fenced leases and durable messages: protocol, control plane with its store, client, and the local
 * node.
 *
 * Layers, lowest first: protocol; store, client; store/sqlite, store/postgres, control-plane/auth; control-plane, secrets; node,
 * dashboard. `page/` contains the static files of the dashboard.
 */

import type {PageServer} from '../pages/index.js'
import type {ControlPlane, ControlPlaneOptions} from './control-plane/server.js'
import type {DashboardOptions} from './dashboard/server.js'
import {noRows, type RowCounts, readExport, writeExport} from './store/export-file.js'
import type {MeshStore, StoreLimits} from './store/mesh-store.js'
import {exportSqliteMesh, importSqliteMesh} from './store/sqlite/transfer.js'

export {createMeshClient, type MeshClient, type MeshClientOptions} from './client/client.js'
export {MeshHttpError} from './client/error.js'
export {everyNode, timeOf, timesOf} from './client/every-node.js'
export {type HeldLease, type HoldOptions, holdLease, LeaseLoss} from './client/hold-lease.js'
export {type InboxPages, inboxPages} from './client/inbox-pages.js'
export {jittered} from './client/jitter.js'
export {
  type Membership,
  type MembershipEvent,
  type MembershipOptions,
  startMembership,
} from './client/membership.js'
export {type NodeState, nodeState, nodeTroubles} from './client/node-state.js'
export {redactAll} from './client/redactor.js'
export type {
  CallOptions,
  DeliverRequest,
  GrantedLease,
  InboxRequest,
  JoinRecord,
  NodesRequest,
} from './client/requests.js'
export {type MeshSnapshot, takeSnapshot} from './client/snapshot.js'
export {type MeshStats, meshStats} from './client/stats.js'
export type {MeshTokens} from './client/tokens.js'
export {type Credentials, type MeshSecrets, readCredentials} from './control-plane/auth/credentials.js'
export type {ControlPlane, ControlPlaneOptions} from './control-plane/server.js'
export type {DashboardOptions} from './dashboard/server.js'
export {announceHere, whileAnnounced} from './node/announce.js'
export {claimerId, claimerLabel} from './node/claimer-id.js'
export {configuredClient} from './node/configured-client.js'
export {type LeaseMismatch, recordControlEvent} from './node/control-events.js'
export {probeGpus} from './node/gpu-probe.js'
export {userFile, workerLock, workFolder} from './node/home.js'
export {type HostProbe, probeHost, readHost} from './node/host.js'
export {loadProbe} from './node/load.js'
export {publishNode, readLocalRegistry, registryPath} from './node/local-registry.js'
export {
  type LocalStatus,
  localStatus,
} from './node/local-status.js'
export {findOverlays} from './node/overlay.js'
export {pair} from './node/pair.js'
export {knownNodeId, nodeId, type SelfRecord, selfRecord} from './node/self-record.js'
export {type MeshStatus, meshStatus} from './node/status.js'
export {listEveryNode, type NodeChange, watchNodes} from './node/watch-nodes.js'
export type {AuditEntry} from './protocol/audit.js'
export type {ExecLease} from './protocol/lease.js'
export {hardCapabilities, meetsRequirements} from './protocol/meets-requirements.js'
export type {
  DeadMessage,
  DeadOutcome,
  QueueReport,
  QueueStats,
  StoredMessage,
} from './protocol/message.js'
export type {NodeRecord, Registry} from './protocol/node.js'
export {
  blobTtlMs,
  cancelKey,
  cancelPriority,
  maxBlobBytes,
  maxScopeBlobBytes,
  type RemoteEnvelope,
  type RemoteResult,
  type RemoteWork,
  readCancel,
  readEnvelope,
  readRemoteAck,
  readRemoteHeartbeat,
  readResult,
  readWork,
  remoteTypes,
  resultKey,
  taskScopeKey,
} from './protocol/remote-task.js'
export type {Replica} from './protocol/replica.js'
export {mayUse, type Role, tokenVariables} from './protocol/roles.js'
export {type MeshOperation, routes} from './protocol/routes.js'
export {mintToken} from './protocol/signed-token.js'
export {initMesh, type MeshInit} from './secrets/init.js'
export {meshSecretTexts, readMeshSecrets} from './secrets/read-secrets.js'
export {openSecrets, sealSecrets} from './secrets/secretbox.js'
export {writeMeshEnv} from './secrets/write-mesh-env.js'
export type {MeshStore, StoreLimits} from './store/mesh-store.js'
export {openSqliteMeshStore} from './store/sqlite/open.js'
export {meshDatabase} from './store/sqlite/restored.js'

/** Loads the web framework on the first call. @throws the errors of the server */
export const startControlPlane = async (options: ControlPlaneOptions): Promise<ControlPlane> =>
  (await import('./control-plane/server.js')).startControlPlane(options)

/**
 * Loads the driver of PostgreSQL on the first call.
 * @throws the errors of the store
 */
export const openPostgresMeshStore = async (url: string, limits: StoreLimits): Promise<MeshStore> =>
  (await import('./store/postgres/open.js')).openPostgresMeshStore(url, limits)

/** Place of a store: a SQLite file, or a PostgreSQL database. */
export type MeshPlace = {path: string} | {url: string}

/**
 * Exports a mesh. The numbers of rows are complete after the last line.
 * @param isLive also permit a store that a control plane has open, for a backup
 * @throws mesh_in_use, file_not_found; the errors of the store
 */
export function exportMesh(place: MeshPlace, isLive: boolean): {lines: AsyncGenerator<string>; counts: RowCounts} {
  const counts = noRows()
  const lines = async function* () {
    const rows =
      'url' in place
        ? (await import('./store/postgres/transfer.js')).exportPostgresMesh(place.url, isLive)
        : exportSqliteMesh(place.path, isLive)
    yield* writeExport(rows, counts)
  }
  return {lines: lines(), counts}
}

/**
 * Imports a mesh into an empty store: all rows, or none if the export is damaged.
 * @param source name of the export, for errors
 * @returns the numbers of rows
 * @throws store_busy, mesh_not_empty, mesh_export_invalid; the errors of the store
 */
export async function importMesh(place: MeshPlace, chunks: AsyncIterable<Buffer>, source: string): Promise<RowCounts> {
  const counts = noRows()
  const rows = readExport(chunks, source, counts)
  if ('url' in place) await (await import('./store/postgres/transfer.js')).importPostgresMesh(place.url, rows, source)
  else await importSqliteMesh(place.path, rows, source)
  return counts
}

/** @throws port_in_use, address_unavailable */
export const startDashboard = async (options: DashboardOptions): Promise<PageServer> =>
  (await import('./dashboard/server.js')).startDashboard(options)
