import {meshNodeSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import {logger} from '../../log/index.js'
import {fragment, type Store} from '../../store/index.js'
import {redactAll, redactor} from '../client/redactor.js'
import {meshSecretTexts} from '../secrets/read-secrets.js'

/** What a workspace asked of the mesh, and what came of it. */
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

/** Where events are kept: the store of a workspace, and of which repository it is. */
export interface EventPlace {
  readonly store: Store
  /** False where the store is in memory: then nothing is kept, and nothing written. */
  readonly isKept: boolean
  readonly repositoryId: string
}

/** Rows of a store that are kept, the newest ones. */
const mostEvents = 10_000

/** Whether events are wanted. */
export const keepsControlEvents = (sources: SettingSources): boolean =>
  resolveSettings(meshNodeSettings, sources).values.codexTelemetry

/**
 * Writes an event down, where that is asked for. Nothing that fails here stops what it is about.
 * @param nowMs Unix ms
 */
export function recordControlEvent<N extends keyof ControlEvents>(
  {store, isKept, repositoryId}: EventPlace,
  sources: SettingSources,
  {name, details, nowMs = Date.now()}: {name: N; details: ControlEvents[N]; nowMs?: number},
): void {
  if (!isKept || !keepsControlEvents(sources)) return
  try {
    // A server may repeat in its refusal what it was sent.
    const text = JSON.stringify(redactAll(details, redactor(meshSecretTexts(sources))))
    store.transaction(() => {
      const {lastInsertRowid: id} = store.run(
        `INSERT INTO mesh_control_events (session_id, repository_id, name, details_json, created_at_ms)
         VALUES (?, ?, ?, ?, ?)`,
        [`mesh:${repositoryId}`, repositoryId, name, text, nowMs],
      )
      store.run('DELETE FROM mesh_control_events WHERE id <= ?', [Number(id) - mostEvents])
    })
  } catch (error) {
    logger('svc.mesh').debug({err: error, name}, 'an event of the mesh could not be written down')
  }
}
