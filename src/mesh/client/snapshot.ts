import {SvcError} from '../../errors/index.js'
import type {MeshClient} from './client.js'
import {everyNode} from './every-node.js'
import {isStale} from './node-state.js'
import {redactAll} from './redactor.js'

/** Node as reported by the control plane, including unknown members. */
export interface MeshNode {
  id: string
  last_seen_unix_ms?: number
  [fact: string]: unknown
}

/** Current nodes of the mesh, or the reason why they are unknown. */
export type MeshSnapshot =
  | {
      ok: true
      schema_version: number
      node_count: number
      nodes: MeshNode[]
      /** Set if `nodes` does not contain all of them. */
      truncated?: true
    }
  | {ok: false; error: string}

const maxNodes = 200

interface SnapshotOptions {
  /** Omit nodes that were last seen longer ago, ms; 0 for no limit. */
  maxStaleMs: number
  /** Local clock, used if the control plane does not report its time, Unix ms. */
  now: () => number
  signal?: AbortSignal | undefined
}

/**
 * Lists the nodes without retries. Errors are returned in the snapshot, with tokens redacted.
 * @throws the reason of the signal
 */
export async function takeSnapshot(
  client: Pick<MeshClient, 'listNodes' | 'redact'>,
  {maxStaleMs, now, signal}: SnapshotOptions,
): Promise<MeshSnapshot> {
  try {
    const registry = await everyNode(client, {}, {retry: false, signal})
    const {schema_version: version, nodes, server_time_unix_ms: serverTime, truncated} = registry
    const known = (nodes as readonly unknown[]).filter((node): node is MeshNode => typeof Object(node).id === 'string')
    // The last-seen times are on the control plane's clock.
    const at = typeof serverTime === 'number' ? serverTime : now()
    const fresh = known.filter(({last_seen_unix_ms: seen}) => !isStale(seen, at, maxStaleMs))
    return {
      ok: true,
      schema_version: typeof version === 'number' ? version : 1,
      node_count: fresh.length,
      nodes: redactAll(fresh.slice(0, maxNodes), client.redact),
      ...(fresh.length > maxNodes || truncated === true ? {truncated: true as const} : {}),
    }
  } catch (error) {
    signal?.throwIfAborted()
    return {ok: false, error: client.redact(SvcError.from(error).message)}
  }
}
