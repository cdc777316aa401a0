import {logger} from '../log/index.js'
import type {Store} from '../store/index.js'
import {type MetricType, sessionOf} from './metric-types.js'

/** Where metrics are recorded. */
export interface MetricPlace {
  readonly store: Store
  /** False if the store is in memory; no metrics are then recorded. */
  readonly isKept: boolean
  readonly repositoryId: string
}

export interface NewMetric {
  /** From 1 to 512 characters. */
  sessionId: string
  /** From 1 to 128 letters, digits and `_ . : -`. */
  type: string
  /** Null if nothing was measured, which is not the same as 0. */
  value: number | null
  /** At most 256 KiB as JSON. */
  metadata?: Readonly<Record<string, unknown>> | undefined
  /** Unix ms; default: now. */
  nowMs?: number | undefined
}

/** A row of `research_metrics`. */
export interface Metric {
  id: number
  session_id: string
  metric_type: string
  metric_value: number | null
  metadata_json: string | null
  /** UTC, `YYYY-MM-DD HH:MM:SS`. */
  created_at: string
}

const maxSessionCharacters = 512
const typePattern = /^[A-Za-z0-9_.:-]{1,128}$/
const maxMetadataBytes = 256 * 1024
const maxRows = 10_000

/**
 * Records a metric. Never throws: a failure is only logged as a warning.
 * @returns the id of the row; undefined if it could not be recorded
 */
export function recordMetric({store, isKept}: Pick<MetricPlace, 'store' | 'isKept'>, metric: NewMetric) {
  if (!isKept) return undefined
  try {
    return insertMetric(store, metric)
  } catch (error) {
    logger('svc.telemetry').warn({err: error, metric_type: metric.type}, 'cannot record metric')
    return undefined
  }
}

/**
 * Records metrics without values of one session and type in one statement. Never throws, like `recordMetric`.
 * @param metadata of each metric
 */
export function recordMetrics(
  {store, isKept}: Pick<MetricPlace, 'store' | 'isKept'>,
  {sessionId, type, nowMs}: {sessionId: string; type: string; nowMs: number},
  metadata: readonly Readonly<Record<string, unknown>>[],
): void {
  if (!isKept || metadata.length === 0) return
  try {
    const texts = metadata.map((each) => JSON.stringify(each))
    for (const json of texts) {
      const fault = faultOf({sessionId, type, value: null, json})
      if (fault !== undefined) throw new RangeError(fault)
    }
    store.run(
      `INSERT INTO research_metrics (session_id, metric_type, metric_value, metadata_json, created_at)
SELECT ?, ?, NULL, value, datetime(?, 'unixepoch') FROM json_each(?)`,
      [sessionId, type, Math.floor(nowMs / 1000), `[${texts.join(',')}]`],
    )
  } catch (error) {
    logger('svc.telemetry').warn({err: error, metric_type: type}, 'cannot record metrics')
  }
}

function insertMetric(store: Store, {sessionId, type, value, metadata, nowMs = Date.now()}: NewMetric): number {
  const json = metadata === undefined ? null : JSON.stringify(metadata)
  const fault = faultOf({sessionId, type, value, json})
  if (fault !== undefined) throw new RangeError(fault)
  const {lastInsertRowid} = store.run(
    `INSERT INTO research_metrics (session_id, metric_type, metric_value, metadata_json, created_at)
VALUES (?, ?, ?, ?, datetime(?, 'unixepoch'))`,
    [sessionId, type, value, json, Math.floor(nowMs / 1000)],
  )
  return Number(lastInsertRowid)
}

interface Checked {
  sessionId: string
  type: string
  value: number | null
  json: string | null
}

function faultOf({sessionId, type, value, json}: Checked): string | undefined {
  // Characters are counted only if the text could be too long.
  const characters = sessionId.length <= maxSessionCharacters ? sessionId.length : [...sessionId].length
  if (characters < 1 || characters > maxSessionCharacters)
    return `the session id must have 1 to ${maxSessionCharacters} characters, not ${characters}`
  if (!typePattern.test(type)) return `the metric type ${JSON.stringify(type)} is invalid`
  if (value !== null && !Number.isFinite(value)) return `the value must be a finite number, not ${value}`
  const bytes = Buffer.byteLength(json ?? '')
  return bytes > maxMetadataBytes ? `the metadata has ${bytes} bytes; the limit is ${maxMetadataBytes}` : undefined
}

/** Lists metrics, newest first. @param limit clamped to 1 to 10,000 */
export function listMetrics(
  store: Store,
  {type, sessionPrefix = '', limit = 50}: {type?: string | undefined; sessionPrefix?: string; limit?: number},
): Metric[] {
  return store.all<Metric>(
    `SELECT id, session_id, metric_type, metric_value, metadata_json, created_at FROM research_metrics
WHERE (@type IS NULL OR metric_type = @type) AND substr(session_id, 1, length(@prefix)) = @prefix
ORDER BY id DESC LIMIT @limit`,
    {type: type ?? null, prefix: sessionPrefix, limit: Math.min(Math.max(Math.trunc(limit), 1), maxRows)},
  )
}

/** Deletes all rows of a type and repository but the newest. Never throws. */
export function trimMetrics(
  {store}: Pick<MetricPlace, 'store'>,
  {type, repositoryId, keep}: {type: MetricType; repositoryId: string; keep: number},
): void {
  const session = sessionOf(type, repositoryId)
  try {
    store.run(
      `DELETE FROM research_metrics WHERE session_id = @session AND metric_type = @type AND id <= (
  SELECT id FROM research_metrics WHERE session_id = @session AND metric_type = @type ORDER BY id DESC LIMIT 1 OFFSET @keep)`,
      {session, type, keep},
    )
  } catch (error) {
    logger('svc.telemetry').warn({err: error, metric_type: type}, 'cannot delete old metrics')
  }
}
