import {meshNodeSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import {logger} from '../../log/index.js'
import {fragment, type Store} from '../../store/index.js'
import {redactAll, redactor} from '../client/redactor.js'
import {meshSecretTexts} from '../secrets/read-secrets.js'

/** Table of the mesh requests of a workspace and their results. */
export const meshFragment = fragment(
  'mesh',
  `
CREATE TABLE mesh_control_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  repository_id TEXT NOT NULL,
  name TEXT NOT NULL,
  details_json TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX mesh_control_events_session ON mesh_control_events (session_id, id);
`,
)

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
}

interface JoinDetails {
  control_base: string
  node_id: string
  scope_id: string | null
}

/** Workspace store for control events, and its repository. */
export interface EventPlace {
  readonly store: Store
  /** False for a store in memory, to which events are not written. */
  readonly isKept: boolean
  readonly repositoryId: string
}

/** Maximum number of rows; the oldest are deleted. */
const maxEvents = 10_000

/** True if recording control events is enabled. */
export const keepsControlEvents = (sources: SettingSources): boolean =>
  resolveSettings(meshNodeSettings, sources).values.codexTelemetry

/**
 * Records an event if enabled. Never throws: an event must not make its operation fail.
 * @param nowMs Unix ms
 */
export function recordControlEvent<N extends keyof ControlEvents>(
  {store, isKept, repositoryId}: EventPlace,
  sources: SettingSources,
  {name, details, nowMs = Date.now()}: {name: N; details: ControlEvents[N]; nowMs?: number},
): void {
  if (!isKept || !keepsControlEvents(sources)) return
  try {
    // An error message of the server may repeat secrets from the request.
    const text = JSON.stringify(redactAll(details, redactor(meshSecretTexts(sources))))
    store.transaction(() => {
      const {lastInsertRowid: id} = store.run(
        `INSERT INTO mesh_control_events (session_id, repository_id, name, details_json, created_at_ms)
         VALUES (?, ?, ?, ?, ?)`,
        [`mesh:${repositoryId}`, repositoryId, name, text, nowMs],
      )
      store.run('DELETE FROM mesh_control_events WHERE id <= ?', [Number(id) - maxEvents])
    })
  } catch (error) {
    logger('svc.mesh').debug({err: error, name}, 'cannot record mesh control event')
  }
}
