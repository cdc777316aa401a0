import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {EngineCounters} from '../../src/llm/counters.js'
import {ServerMetrics} from '../../src/serve/metrics.js'

const none = {count: 0, bytes: 0}
const one = {count: 1, bytes: 4096}

const untouched = `# HELP svc_requests_running Number of running requests.
# TYPE svc_requests_running gauge
svc_requests_running 0
# HELP svc_requests_waiting Number of requests waiting for a slot.
# TYPE svc_requests_waiting gauge
svc_requests_waiting 0
# HELP svc_slots_active Number of KV cache slots in use.
# TYPE svc_slots_active gauge
svc_slots_active 0
# HELP svc_tokens_total Tokens processed, by kind; cached ones were not computed again.
# TYPE svc_tokens_total counter
svc_tokens_total{kind="prompt"} 0
svc_tokens_total{kind="cached"} 0
svc_tokens_total{kind="completion"} 0
# HELP svc_drafted_tokens_total Tokens that were drafted from repeated text, by result.
# TYPE svc_drafted_tokens_total counter
svc_drafted_tokens_total{result="accepted"} 0
svc_drafted_tokens_total{result="rejected"} 0
# HELP svc_prefix_files_total Files with prompt prefixes; ignored ones were unusable.
# TYPE svc_prefix_files_total counter
svc_prefix_files_total{event="read"} 0
svc_prefix_files_total{event="written"} 0
svc_prefix_files_total{event="ignored"} 0
# HELP svc_graph_runs_total Graph runs.
# TYPE svc_graph_runs_total counter
svc_graph_runs_total 0
# HELP svc_batched_runs_total Graph runs for more than one request.
# TYPE svc_batched_runs_total counter
svc_batched_runs_total 0
# HELP svc_http_requests_total HTTP requests answered, by status.
# TYPE svc_http_requests_total counter
# HELP svc_model_loaded Number of loaded models.
# TYPE svc_model_loaded gauge
svc_model_loaded 0
# HELP svc_model_memory_bytes Approximate memory of the loaded models.
# TYPE svc_model_memory_bytes gauge
svc_model_memory_bytes 0
# HELP svc_time_to_first_token_seconds Time to the first token.
# TYPE svc_time_to_first_token_seconds histogram
svc_time_to_first_token_seconds_bucket{le="0.01"} 0
svc_time_to_first_token_seconds_bucket{le="0.025"} 0
svc_time_to_first_token_seconds_bucket{le="0.05"} 0
svc_time_to_first_token_seconds_bucket{le="0.1"} 0
svc_time_to_first_token_seconds_bucket{le="0.25"} 0
svc_time_to_first_token_seconds_bucket{le="0.5"} 0
svc_time_to_first_token_seconds_bucket{le="1"} 0
svc_time_to_first_token_seconds_bucket{le="2.5"} 0
svc_time_to_first_token_seconds_bucket{le="5"} 0
svc_time_to_first_token_seconds_bucket{le="10"} 0
svc_time_to_first_token_seconds_bucket{le="30"} 0
svc_time_to_first_token_seconds_bucket{le="+Inf"} 0
svc_time_to_first_token_seconds_sum 0
svc_time_to_first_token_seconds_count 0
`

const busy = `# HELP svc_requests_running Number of running requests.
# TYPE svc_requests_running gauge
svc_requests_running 3
# HELP svc_requests_waiting Number of requests waiting for a slot.
# TYPE svc_requests_waiting gauge
svc_requests_waiting 2
# HELP svc_slots_active Number of KV cache slots in use.
# TYPE svc_slots_active gauge
svc_slots_active 3
# HELP svc_tokens_total Tokens processed, by kind; cached ones were not computed again.
# TYPE svc_tokens_total counter
svc_tokens_total{kind="prompt"} 1234
svc_tokens_total{kind="cached"} 321
svc_tokens_total{kind="completion"} 567
# HELP svc_drafted_tokens_total Tokens that were drafted from repeated text, by result.
# TYPE svc_drafted_tokens_total counter
svc_drafted_tokens_total{result="accepted"} 30
svc_drafted_tokens_total{result="rejected"} 12
# HELP svc_prefix_files_total Files with prompt prefixes; ignored ones were unusable.
# TYPE svc_prefix_files_total counter
svc_prefix_files_total{event="read"} 4
svc_prefix_files_total{event="written"} 5
svc_prefix_files_total{event="ignored"} 6
# HELP svc_graph_runs_total Graph runs.
# TYPE svc_graph_runs_total counter
svc_graph_runs_total 89
# HELP svc_batched_runs_total Graph runs for more than one request.
# TYPE svc_batched_runs_total counter
svc_batched_runs_total 55
# HELP svc_http_requests_total HTTP requests answered, by status.
# TYPE svc_http_requests_total counter
svc_http_requests_total{status="200"} 2
svc_http_requests_total{status="503"} 1
# HELP svc_model_loaded Number of loaded models.
# TYPE svc_model_loaded gauge
svc_model_loaded 1
# HELP svc_model_memory_bytes Approximate memory of the loaded models.
# TYPE svc_model_memory_bytes gauge
svc_model_memory_bytes 4096
# HELP svc_time_to_first_token_seconds Time to the first token.
# TYPE svc_time_to_first_token_seconds histogram
svc_time_to_first_token_seconds_bucket{le="0.01"} 0
svc_time_to_first_token_seconds_bucket{le="0.025"} 1
svc_time_to_first_token_seconds_bucket{le="0.05"} 1
svc_time_to_first_token_seconds_bucket{le="0.1"} 1
svc_time_to_first_token_seconds_bucket{le="0.25"} 2
svc_time_to_first_token_seconds_bucket{le="0.5"} 3
svc_time_to_first_token_seconds_bucket{le="1"} 3
svc_time_to_first_token_seconds_bucket{le="2.5"} 3
svc_time_to_first_token_seconds_bucket{le="5"} 3
svc_time_to_first_token_seconds_bucket{le="10"} 3
svc_time_to_first_token_seconds_bucket{le="30"} 3
svc_time_to_first_token_seconds_bucket{le="+Inf"} 4
svc_time_to_first_token_seconds_sum 64.640625
svc_time_to_first_token_seconds_count 4
`

describe('ServerMetrics', () => {
  it('includes all metrics before the first request, with no model loaded', () =>
    assert.equal(new ServerMetrics().render(undefined, none), untouched))

  it('reports an idle model as loaded', () =>
    assert.equal(
      new ServerMetrics().render(new EngineCounters().snapshot(), one),
      untouched
        .replace('svc_model_loaded 0', 'svc_model_loaded 1')
        .replace('svc_model_memory_bytes 0', 'svc_model_memory_bytes 4096'),
    ))

  it('includes the counters of the engine, statuses and cumulative histogram buckets', () => {
    const metrics = new ServerMetrics()
    for (const status of [200, 503, 200]) metrics.answered(status)
    // On a bucket boundary, between two, and beyond the last; sums of powers of two are exact.
    for (const seconds of [0.015625, 0.125, 0.5, 64]) metrics.firstToken(seconds)
    const counters = new EngineCounters()
    const counts = {
      running: 3,
      waiting: 2,
      promptTokens: 1234,
      cachedTokens: 321,
      completionTokens: 567,
      draftedTokens: 42,
      acceptedTokens: 30,
      graphRuns: 89,
      prefixFilesRead: 4,
      prefixFilesWritten: 5,
      prefixFilesIgnored: 6,
    } as const
    for (const [name, value] of Object.entries(counts)) counters.set(name as keyof typeof counts, value)
    counters.add('batchedRuns', 50)
    counters.add('batchedRuns', 5)
    assert.equal(metrics.render(counters.snapshot(), one), busy)
  })
})

describe('EngineCounters', () => {
  it('are visible through their shared memory', () => {
    const writer = new EngineCounters()
    const reader = new EngineCounters(writer.memory)
    writer.add('promptTokens', 2 ** 40)
    writer.add('promptTokens', 1)
    writer.set('waiting', 7)
    assert.deepEqual(reader.snapshot(), {
      waiting: 7,
      running: 0,
      graphRuns: 0,
      cachedTokens: 0,
      batchedRuns: 0,
      promptTokens: 2 ** 40 + 1,
      completionTokens: 0,
      draftedTokens: 0,
      acceptedTokens: 0,
      prefixFilesRead: 0,
      prefixFilesWritten: 0,
      prefixFilesIgnored: 0,
    })
  })
})
