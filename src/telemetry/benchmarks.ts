import type {Store} from '../store/index.js'
import {type MetricType, sessionOf} from './metric-types.js'
import {type Metric, type MetricPlace, recordMetric} from './metrics.js'

/** Metric types of benchmarks. */
export const benchmarkTypes = ['benchmark_event', 'syntax_k_event'] as const satisfies MetricType[]

export type BenchmarkType = (typeof benchmarkTypes)[number]

export interface NewBenchmark {
  type: BenchmarkType
  name: string
  /** Null if nothing was measured. */
  value: number | null
  unit?: 'seconds' | 'milliseconds' | 'ratio' | undefined
  fixtureId?: string | undefined
  /** Who recorded it, if not a command: `mcp` or `daemon`. */
  source?: string | undefined
  details?: object | undefined
}

/** A recorded result. */
export interface Benchmark {
  id: number
  session_id: string
  metric_type: BenchmarkType
  metric_value: number | null
  metadata: Record<string, unknown> | null
  /** UTC, `YYYY-MM-DD HH:MM:SS`. */
  created_at: string
}

export interface BenchmarkFilter {
  type?: BenchmarkType | undefined
  /** `cli` selects the rows without a source. */
  source?: string | undefined
  /** Value of `run_id` in the details. */
  runId?: string | undefined
  limit?: number | undefined
}

/**
 * Records a result of a benchmark. Never throws.
 * @returns the id of the row; undefined if it could not be recorded
 */
export function recordBenchmark(place: MetricPlace, benchmark: NewBenchmark): number | undefined {
  const {type, name, value, unit, fixtureId, source, details} = benchmark
  return recordMetric(place, {
    sessionId: sessionOf(type, place.repositoryId),
    type,
    value,
    metadata: {
      name,
      repository_id: place.repositoryId,
      fixture_id: fixtureId,
      metric_value_unit: unit,
      source,
      details,
    },
  })
}

/** Lists the results of the repository, newest first. */
export function listBenchmarks(
  {store, repositoryId}: {store: Store; repositoryId: string},
  {type = 'benchmark_event', source, runId, limit = 50}: BenchmarkFilter = {},
): Benchmark[] {
  const rows = store.all<Metric>(
    `SELECT id, session_id, metric_type, metric_value, metadata_json, created_at FROM research_metrics
WHERE session_id = @session AND metric_type = @type
  AND (@source IS NULL OR coalesce(metadata_json ->> '$.source', 'cli') = @source)
  AND (@runId IS NULL OR metadata_json ->> '$.details.run_id' = @runId)
ORDER BY id DESC LIMIT @limit`,
    {session: sessionOf(type, repositoryId), type, source: source ?? null, runId: runId ?? null, limit},
  )
  return rows.map(({metadata_json: metadata, ...row}) => ({
    ...row,
    metric_type: type,
    metadata: metadata === null ? null : JSON.parse(metadata),
  }))
}
