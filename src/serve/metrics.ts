import type {CounterName} from '../llm/index.js'
import {metricsText} from '../net/index.js'
import type {Client} from './clients.js'

/** Upper bounds of the histogram buckets for the time to the first token, s. */
const bounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Metrics of the server; the engine counts the rest. */
export class ServerMetrics {
  readonly #buckets = bounds.map(() => 0)
  #count = 0
  #sum = 0
  readonly #requests = new Map<number, number>()
  readonly #clients: readonly Client[]

  /** @param clients the holders of API keys */
  constructor(clients: readonly Client[] = []) {
    this.#clients = clients
  }

  /** @param seconds from the arrival of a request to its first token */
  firstToken(seconds: number): void {
    for (const [i, bound] of bounds.entries()) if (seconds <= bound) this.#buckets[i] = (this.#buckets[i] as number) + 1
    this.#count++
    this.#sum += seconds
  }

  answered(status: number): void {
    this.#requests.set(status, (this.#requests.get(status) ?? 0) + 1)
  }

  /** @param loaded number of loaded models, and their approximate memory */
  render(
    engine: Readonly<Partial<Record<CounterName, number>>> | undefined,
    loaded: {count: number; bytes: number},
  ): string {
    const value = (name: CounterName) => engine?.[name] ?? 0
    return metricsText([
      ['svc_requests_running', 'gauge', 'Number of running requests.', [['', value('running')]]],
      ['svc_requests_waiting', 'gauge', 'Number of requests waiting for a slot.', [['', value('waiting')]]],
      ['svc_slots_active', 'gauge', 'Number of KV cache slots in use.', [['', value('running')]]],
      [
        'svc_tokens_total',
        'counter',
        'Tokens processed, by kind; cached ones were not computed again.',
        [
          ['{kind="prompt"}', value('promptTokens')],
          ['{kind="cached"}', value('cachedTokens')],
          ['{kind="completion"}', value('completionTokens')],
        ],
      ],
      [
        'svc_drafted_tokens_total',
        'counter',
        'Tokens that were drafted from repeated text, by result.',
        [
          ['{result="accepted"}', value('acceptedTokens')],
          ['{result="rejected"}', value('draftedTokens') - value('acceptedTokens')],
        ],
      ],
      [
        'svc_prefix_files_total',
        'counter',
        'Files with prompt prefixes; ignored ones were unusable.',
        [
          ['{event="read"}', value('prefixFilesRead')],
          ['{event="written"}', value('prefixFilesWritten')],
          ['{event="ignored"}', value('prefixFilesIgnored')],
        ],
      ],
      ['svc_graph_runs_total', 'counter', 'Graph runs.', [['', value('graphRuns')]]],
      ['svc_batched_runs_total', 'counter', 'Graph runs for more than one request.', [['', value('batchedRuns')]]],
      [
        'svc_http_requests_total',
        'counter',
        'HTTP requests answered, by status.',
        [...this.#requests].map(([status, count]) => [`{status="${status}"}`, count] as const),
      ],
      ...this.#ofClients(),
      ['svc_model_loaded', 'gauge', 'Number of loaded models.', [['', loaded.count]]],
      ['svc_model_memory_bytes', 'gauge', 'Approximate memory of the loaded models.', [['', loaded.bytes]]],
      ['svc_time_to_first_token_seconds', 'histogram', 'Time to the first token.', this.#histogram()],
    ])
  }

  #ofClients(): Parameters<typeof metricsText>[0] {
    if (this.#clients.length === 0) return []
    const samples = this.#clients.map(({name, totalTokens}) => [`{client="${name}"}`, totalTokens] as const)
    return [['svc_client_tokens_total', 'counter', 'Tokens that were charged to clients, by name of the key.', samples]]
  }

  #histogram(): [string, number][] {
    return [
      ...bounds.map((bound, i): [string, number] => [`_bucket{le="${bound}"}`, this.#buckets[i] as number]),
      ['_bucket{le="+Inf"}', this.#count],
      ['_sum', this.#sum],
      ['_count', this.#count],
    ]
  }
}
