import type {Benchmark, BenchmarkType} from '../../telemetry/index.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, number, object, oneOf, text} from '../schema.js'

const metricType = oneOf(['benchmark_event', 'syntax_k_event'], 'Default: benchmark_event.')
const details = object({}, {open: true})
const maxTextLength = 256

const benchmark = object(
  {
    id: integer(),
    session_id: text(),
    metric_type: text(),
    metric_value: {type: ['number', 'null']},
    metadata: {type: ['object', 'null'], description: 'name, repository_id, fixture_id, source and details.'},
    created_at: text('UTC, YYYY-MM-DD HH:MM:SS.'),
  },
  {required: ['id', 'session_id', 'metric_type', 'metric_value', 'metadata', 'created_at']},
)

interface ListRequest {
  limit?: number
  metric_type?: BenchmarkType
  source?: string
  run_id?: string
}

interface RecordRequest {
  name: string
  fixture_id?: string
  metric_type?: BenchmarkType
  value?: number
  details?: object
}

/** Recorded results of benchmarks. */
export const benchmarkOperations: readonly Operation[] = [
  operation<ListRequest, {benchmarks: Benchmark[]}>({
    name: 'benchmark_list',
    title: 'List benchmark results',
    summary: 'List recorded benchmark results of this repository, newest first.',
    effect: 'read',
    idempotent: true,
    input: object({
      limit: integer('Maximum number of results.', {minimum: 1, maximum: 500, default: 50}),
      metric_type: metricType,
      source: text('Only results from this source: cli (svc bench), mcp or daemon.', {maxLength: maxTextLength}),
      run_id: text('Only results whose details have this run_id, a text.', {maxLength: maxTextLength}),
    }),
    output: object({benchmarks: list(benchmark)}, {required: ['benchmarks']}),
    bindings: {
      rpc: {method: 'orch.benchmarks.list'},
      tool: {name: 'svc_benchmark_list', tier: 'advanced', lane: 'data'},
    },
    run: ({limit, metric_type: type, source, run_id: runId}, {modules, orchestrator}) => ({
      benchmarks: modules.telemetry.listBenchmarks(orchestrator, {limit, type, source, runId}),
    }),
  }),
  operation<RecordRequest, {recorded: boolean; id?: number}>({
    name: 'benchmark_record',
    title: 'Record a benchmark result',
    summary: 'Record a benchmark result in the store of this workspace.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        name: text('Name of the benchmark.', {minLength: 1, maxLength: maxTextLength}),
        fixture_id: text('Id of the measured source or data.', {minLength: 1, maxLength: maxTextLength}),
        metric_type: metricType,
        value: number('The measurement; omit it if nothing was measured.'),
        details: {...details, description: 'Further members, such as run_id; at most 256 KiB as JSON.'},
      },
      {required: ['name']},
    ),
    output: object(
      {
        recorded: flag('False if SVC_TELEMETRY is off, the store is in memory, or it cannot be written to.'),
        id: integer(),
      },
      {required: ['recorded']},
    ),
    bindings: {
      rpc: {method: 'orch.benchmarks.record'},
      tool: {name: 'svc_benchmark_record', tier: 'advanced', lane: 'data'},
    },
    run({name, fixture_id: fixtureId, metric_type: type = 'benchmark_event', value = null, ...request}, context) {
      const {modules, orchestrator, surface} = context
      if (!orchestrator.telemetry.metrics) return {recorded: false}
      const id = modules.telemetry.recordBenchmark(orchestrator, {
        type,
        name,
        value,
        fixtureId,
        source: surface,
        details: request.details,
      })
      return id === undefined ? {recorded: false} : {recorded: true, id}
    },
  }),
]
