import {SvcError} from '../../errors/index.js'
import type {MeshClient} from './client.js'
import {everyNode} from './every-node.js'
import {isStale} from './node-state.js'
import {redactAll} from './redactor.js'

/** A node as the control plane reports it; whatever else it reports is passed on. */
export interface MeshNode {
  id: string
  last_seen_unix_ms?: number
  [fact: string]: unknown
}

/** The nodes of the mesh at this moment, or why nothing is known of them. */
export type MeshSnapshot =
  | {
      ok: true
      schema_version: number
      /** Nodes that are fresh enough. */
      node_count: number
      /** The first of them. */
      nodes: MeshNode[]
      /** There are more than `nodes` has. */
      truncated?: true
    }
  | {ok: false; error: string}

const mostNodes = 200

interface SnapshotOptions {
  /** Nodes that were not heard of for longer are left out; 0 leaves out none. */
  maxStaleMs: number
  /** Clock of this machine, for a control plane that does not report the time. */
  now: () => number
  signal?: AbortSignal | undefined
}

/**
 * Asks for the nodes, once for each page of them. What goes wrong is part of the answer; no token is.
 * @throws what the signal was aborted with
 */
export async function takeSnapshot(
  client: Pick<MeshClient, 'listNodes' | 'redact'>,
  {maxStaleMs, now, signal}: SnapshotOptions,
): Promise<MeshSnapshot> {
  try {
    const registry = await everyNode(client, {}, {retry: false, signal})
    const {schema_version: version, nodes, server_time_unix_ms: serverTime, truncated} = registry
    const known = (nodes as readonly unknown[]).filter((node): node is MeshNode => typeof Object(node).id === 'string')
    // The clock of the control plane has stamped the nodes.
    const at = typeof serverTime === 'number' ? serverTime : now()
    const fresh = known.filter(({last_seen_unix_ms: seen}) => !isStale(seen, at, maxStaleMs))
    return {
      ok: true,
      schema_version: typeof version === 'number' ? version : 1,
      node_count: fresh.length,
      nodes: redactAll(fresh.slice(0, mostNodes), client.redact),
      ...(fresh.length > mostNodes || truncated === true ? {truncated: true as const} : {}),
    }
  } catch (error) {
    signal?.throwIfAborted()
    return {ok: false, error: client.redact(SvcError.from(error).message)}
  }
}
