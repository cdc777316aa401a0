/**
 * The mesh: nodes that join, hold leases with fencing tokens, and pass messages that are not lost. The protocol, the
 * control plane with its store, the client, and what a machine tells of itself as a node.
 */
export type {ExecLease, LeaseVerification} from './protocol/lease.js'
export type {Delivered, MessageDraft, QueueStats, StoredMessage} from './protocol/message.js'
export type {CapabilityHints, HeartbeatReply, NodeFacts, NodeRecord, Registry} from './protocol/node.js'
export {type MeshOperation, routes} from './protocol/routes.js'
