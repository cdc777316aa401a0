import {meshNodeSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import {type MetricPlace, recordMetric, resolveTelemetry, sessionOf, trimMetrics} from '../../telemetry/index.js'
import {redactAll, redactor} from '../client/redactor.js'
import {meshSecretTexts} from '../secrets/read-secrets.js'

interface ControlEvents {
  local_registry_publish: {registry_path: string; node_id: string; scope_id: string | null}
  mesh_http_join_ok: JoinDetails & {ok: true; error: null}
  mesh_http_join_err: JoinDetails & {ok: false; error: string}
  orchestrator_status_mesh_snapshot: {
    ok: boolean
    node_count: number | null
    schema_version: number | null
    error: string | null
  }
  mesh_exec_lease_reconcile: {
    reason: LeaseMismatch
    lease_id: string
    holder_node_id: string
    scope_key: string
    expires_unix_ms: number
    auto_revoke_attempted: boolean
    auto_revoke_ok: boolean | null
  }
}

/** Reason why the holder of a lease should not hold it. */
export type LeaseMismatch =
  | 'holder_not_in_registry'
  | 'holder_heartbeat_stale'
  | 'holder_in_maintenance'
  | 'holder_quarantined'

interface JoinDetails {
  control_base: string
  node_id: string
  scope_id: string | null
}

/** Maximum number of rows of a repository; the oldest are deleted. */
const maxEvents = 10_000
/** Number of rows between two deletions. */
const trimEvery = 100

/** True if recording control events is enabled. */
export const keepsControlEvents = (sources: SettingSources): boolean =>
  resolveSettings(meshNodeSettings, sources).values.codexTelemetry && resolveTelemetry(sources).telemetry.metrics

/**
 * Records an event as a metric if enabled. Never throws: an event must not make its operation fail.
 * @param nowMs Unix ms
 */
export function recordControlEvent<N extends keyof ControlEvents>(
  place: MetricPlace,
  sources: SettingSources,
  {name, details, nowMs}: {name: N; details: ControlEvents[N]; nowMs?: number},
): void {
  if (!keepsControlEvents(sources)) return
  const {repositoryId} = place
  const type = name === 'mesh_exec_lease_reconcile' ? 'mesh_exec_lease_reconcile' : 'mesh_control_event'
  const id = recordMetric(place, {
    sessionId: sessionOf(type, repositoryId),
    type,
    value: null,
    // An error message of the server may repeat secrets from the request.
    metadata: {name, repository_id: repositoryId, details: redactAll(details, redactor(meshSecretTexts(sources)))},
    nowMs,
  })
  if (id !== undefined && id % trimEvery === 0) trimMetrics(place, {type, repositoryId, keep: maxEvents})
}
