import type {SettingSources} from '../../config/index.js'
import {logger} from '../../log/index.js'
import {
  type ExecLease,
  type LeaseMismatch,
  type MeshClient,
  MeshHttpError,
  type NodeRecord,
  nodeTroubles,
  recordControlEvent,
} from '../../mesh/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'

/** A lease whose holder is missing, or gets no work. */
export interface Mismatch {
  lease: ExecLease
  reason: LeaseMismatch
  /** The holder may still finish its work. */
  isDraining: boolean
}

/** The nodes with which the leases are compared. */
export interface Listing {
  nodes: readonly NodeRecord[]
  /** Time of the list on the clock of the control plane, Unix ms. */
  listedAtMs: number
  /** Age of a heartbeat from which it is stale, ms; 0 disables the check. */
  staleMs: number
}

/** The first reason applies. */
const reasons = [
  ['stale', 'holder_heartbeat_stale'],
  ['maintenance', 'holder_in_maintenance'],
  ['quarantined', 'holder_quarantined'],
] as const

/** Compares the holders of leases with the nodes. */
export function leaseMismatches(
  leases: readonly ExecLease[],
  {nodes, listedAtMs, staleMs}: Listing,
): readonly Mismatch[] {
  const known = new Map(nodes.map((node) => [node.id, node]))
  return leases.flatMap((lease) => {
    const node = known.get(lease.holder_node_id)
    if (node === undefined) return {lease, reason: 'holder_not_in_registry', isDraining: false}
    const troubles = nodeTroubles(node, listedAtMs, staleMs)
    const reason = reasons.find(([trouble]) => troubles.includes(trouble))?.[1]
    return reason === undefined ? [] : {lease, reason, isDraining: troubles.includes('maintenance')}
  })
}

/** Consecutive polls with the same mismatch after which a lease is revoked: a node may be joining again. */
const pollsBeforeRevocation = 2

export interface ReconcilerOptions {
  sources: SettingSources
  /** Id under which this machine holds leases; they are never revoked. */
  claimer: string
}

/** Reports the mismatches of consecutive polls, each when it appears, and revokes the leases if that is enabled. */
export class LeaseReconciler {
  readonly #context: WorkspaceContext
  readonly #options: ReconcilerOptions
  /** Lease id -> mismatch at the last poll and the number of consecutive polls with it. */
  #seen: ReadonlyMap<string, {reason: LeaseMismatch; polls: number}> = new Map()

  constructor(context: WorkspaceContext, options: ReconcilerOptions) {
    this.#context = context
    this.#options = options
  }

  /** Forgets the mismatches after a failed poll, since the next one is not consecutive. */
  reset(): void {
    this.#seen = new Map()
  }

  /** @throws the reason of the signal */
  async reconcile(
    client: Pick<MeshClient, 'revokeLease'>,
    mismatches: readonly Mismatch[],
    signal: AbortSignal,
  ): Promise<void> {
    const before = this.#seen
    const pollsOf = ({lease, reason}: Mismatch) => {
      const seen = before.get(lease.lease_id)
      return seen?.reason === reason ? seen.polls + 1 : 1
    }
    this.#seen = new Map(mismatches.map((one) => [one.lease.lease_id, {reason: one.reason, polls: pollsOf(one)}]))
    for (const mismatch of mismatches) {
      const polls = pollsOf(mismatch)
      const isRevoked =
        polls >= pollsBeforeRevocation && this.#mayRevoke(mismatch)
          ? await revoke(client, mismatch.lease, signal)
          : undefined
      if (polls === 1 || isRevoked !== undefined) this.#report(mismatch, isRevoked)
    }
  }

  #mayRevoke({lease, isDraining}: Mismatch): boolean {
    const {meshExecLeaseAutoRevoke, token, meshSecrets} = this.#context.config
    const hasToken = [token, meshSecrets.adminToken, meshSecrets.jwtHmacSecret].some(Boolean)
    return meshExecLeaseAutoRevoke && hasToken && !isDraining && lease.holder_node_id !== this.#options.claimer
  }

  /** @param isRevoked undefined if no revocation was attempted */
  #report({lease, reason}: Mismatch, isRevoked: boolean | undefined): void {
    const {lease_id, holder_node_id, scope_key, expires_unix_ms} = lease
    const details = {
      reason,
      lease_id,
      holder_node_id,
      scope_key,
      expires_unix_ms,
      auto_revoke_attempted: isRevoked !== undefined,
      auto_revoke_ok: isRevoked ?? null,
    }
    const level = reason === 'holder_not_in_registry' || reason === 'holder_heartbeat_stale' ? 'warn' : 'debug'
    reconcileLog()[level](details, 'the holder of a lease is not available')
    recordControlEvent(this.#context, this.#options.sources, {name: 'mesh_exec_lease_reconcile', details})
  }
}

/** Created at each use, because logging is configured after this module is loaded. */
export const reconcileLog = () => logger('svc.mcp.mesh_reconcile')

/** True if the lease no longer exists. @throws the reason of the signal */
async function revoke(
  client: Pick<MeshClient, 'revokeLease'>,
  {lease_id: lease}: ExecLease,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.revokeLease(lease, {signal})
    return true
  } catch (error) {
    signal.throwIfAborted()
    reconcileLog().debug({err: error, lease_id: lease}, 'cannot revoke a lease')
    return error instanceof MeshHttpError && error.isMissing
  }
}
