import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {EngineCounters} from '../../src/llm/counters.js'
import {ServerMetrics} from '../../src/serve/metrics.js'

const untouched = `# HELP svc_requests_running Requests that are computed.
# TYPE svc_requests_running gauge
svc_requests_running 0
# HELP svc_requests_waiting Requests that wait for a slot.
# TYPE svc_requests_waiting gauge
svc_requests_waiting 0
# HELP svc_slots_active Slots of the cache that are in use.
# TYPE svc_slots_active gauge
svc_slots_active 0
# HELP svc_tokens_total Tokens by kind.
# TYPE svc_tokens_total counter
svc_tokens_total{kind="prompt"} 0
svc_tokens_total{kind="completion"} 0
# HELP svc_graph_runs_total Runs of the graph.
# TYPE svc_graph_runs_total counter
svc_graph_runs_total 0
# HELP svc_batched_runs_total Runs for more than one request.
# TYPE svc_batched_runs_total counter
svc_batched_runs_total 0
# HELP svc_http_requests_total Answered requests by status.
# TYPE svc_http_requests_total counter
# HELP svc_model_loaded Whether the model is in memory.
# TYPE svc_model_loaded gauge
svc_model_loaded 0
# HELP svc_time_to_first_token_seconds From a request to its first token.
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

const busy = `# HELP svc_requests_running Requests that are computed.
# TYPE svc_requests_running gauge
svc_requests_running 3
# HELP svc_requests_waiting Requests that wait for a slot.
# TYPE svc_requests_waiting gauge
svc_requests_waiting 2
# HELP svc_slots_active Slots of the cache that are in use.
# TYPE svc_slots_active gauge
svc_slots_active 3
# HELP svc_tokens_total Tokens by kind.
# TYPE svc_tokens_total counter
svc_tokens_total{kind="prompt"} 1234
svc_tokens_total{kind="completion"} 567
# HELP svc_graph_runs_total Runs of the graph.
# TYPE svc_graph_runs_total counter
svc_graph_runs_total 89
# HELP svc_batched_runs_total Runs for more than one request.
# TYPE svc_batched_runs_total counter
svc_batched_runs_total 55
# HELP svc_http_requests_total Answered requests by status.
# TYPE svc_http_requests_total counter
svc_http_requests_total{status="200"} 2
svc_http_requests_total{status="503"} 1
# HELP svc_model_loaded Whether the model is in memory.
# TYPE svc_model_loaded gauge
svc_model_loaded 1
# HELP svc_time_to_first_token_seconds From a request to its first token.
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

describe('the metrics of a server', () => {
  it('are all there before anything has happened, and say that no model is loaded', () =>
    assert.equal(new ServerMetrics().render(undefined), untouched))

  it('say that an idle model is loaded', () =>
    assert.equal(
      new ServerMetrics().render(new EngineCounters().snapshot()),
      untouched.replace('svc_model_loaded 0', 'svc_model_loaded 1'),
    ))

  it('show what the engine counts, statuses, and first tokens in each bucket that holds them', () => {
    const metrics = new ServerMetrics()
    for (const status of [200, 503, 200]) metrics.answered(status)
    // On the border of a bucket, between two, and beyond the last; all are sums of powers of two.
    for (const seconds of [0.015625, 0.125, 0.5, 64]) metrics.firstToken(seconds)
    const counters = new EngineCounters()
    const counts = {running: 3, waiting: 2, promptTokens: 1234, completionTokens: 567, graphRuns: 89} as const
    for (const [name, value] of Object.entries(counts)) counters.set(name as keyof typeof counts, value)
    counters.add('batchedRuns', 50)
    counters.add('batchedRuns', 5)
    assert.equal(metrics.render(counters.snapshot()), busy)
  })
})

describe('the counters of an engine', () => {
  it('are seen by whoever has their memory', () => {
    const writer = new EngineCounters()
    const reader = new EngineCounters(writer.memory)
    writer.add('promptTokens', 2 ** 40)
    writer.add('promptTokens', 1)
    writer.set('waiting', 7)
    assert.deepEqual(reader.snapshot(), {
      waiting: 7,
      running: 0,
      graphRuns: 0,
      batchedRuns: 0,
      promptTokens: 2 ** 40 + 1,
      completionTokens: 0,
    })
  })
})
