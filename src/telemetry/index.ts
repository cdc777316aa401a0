/**
 * Metrics of a workspace, accounting of model calls and evaluations of speech, in tables of its store. Writes of metrics are best effort: they
 * never make an operation fail.
 */

export {
  type Benchmark,
  type BenchmarkFilter,
  type BenchmarkType,
  benchmarkTypes,
  listBenchmarks,
  type NewBenchmark,
  recordBenchmark,
} from './benchmarks.js'
export {sessionOf} from './metric-types.js'
export {
  listMetrics,
  type Metric,
  type MetricPlace,
  type NewMetric,
  recordMetric,
  recordMetrics,
  trimMetrics,
} from './metrics.js'
export {type ModelCall, recordModelCall} from './model-calls.js'
export {telemetryFragment} from './schema.js'
export {
  listSpeechEvals,
  type NewSpeechEval,
  type SpeechEvalPlace,
  saveSpeechEval,
} from './speech-evals.js'
export {emitsCosts, resolveTelemetry, type Telemetry} from './switches.js'
export {recordWork} from './work-metrics.js'
