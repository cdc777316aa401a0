/** Where a control plane keeps what it knows: the interface, and its driver for one SQLite file. */
export type {
  ClaimQuery,
  Counts,
  Heartbeat,
  HeartbeatOutcome,
  Maintenance,
  MeshStore,
  NodePage,
  NodeQuery,
  PeekQuery,
  Scope,
  StoreLimits,
} from './mesh-store.js'
export {openSqliteMeshStore, type SqliteMeshStoreOptions} from './sqlite/open.js'
