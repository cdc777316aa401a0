import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {GenerateRequest} from '../../../src/llm/index.js'
import type {OpenAiRequest} from '../../../src/serve/openai/chat-request.js'
import {readCompletion} from '../../../src/serve/openai/completion-request.js'
import {defaults, refusal} from '../samples.js'

const read = (body: object) => readCompletion({prompt: 'Once', ...body}, defaults)

const request: GenerateRequest = {
  prompt: {kind: 'raw', text: 'Once'},
  maxTokens: 512,
  stop: [],
  sampling: {
    temperature: 0.7,
    topK: 0,
    topP: 1,
    minP: 0,
    seed: 99,
    repeatPenalty: undefined,
    presencePenalty: 0,
    frequencyPenalty: 0,
    repeatLastN: -1,
    logitBias: {},
  },
}
const plain: OpenAiRequest = {stream: false, includeUsage: false, n: 1, unknown: [], requests: [request]}
const asking = (changes: Partial<GenerateRequest>): OpenAiRequest => ({
  ...plain,
  requests: [{...request, ...changes}],
})
const sampled = (changes: Partial<GenerateRequest['sampling']>) => asking({sampling: {...request.sampling, ...changes}})

describe('POST /v1/completions', () => {
  const accepted: [body: object, expected: OpenAiRequest][] = [
    [{}, plain],
    [{prompt: ['Once']}, plain],
    [{prompt: ''}, asking({prompt: {kind: 'beginning'}})],
    [{prompt: null}, asking({prompt: {kind: 'beginning'}})],
    [{prompt: [5, 0, 7]}, asking({prompt: {kind: 'tokens', tokens: [5, 0, 7]}})],
    [
      {prompt: ['Once', '', 'upon'], n: 2},
      {
        ...plain,
        n: 2,
        requests: [
          request,
          {...request, prompt: {kind: 'beginning'}},
          {...request, prompt: {kind: 'raw', text: 'upon'}},
        ],
      },
    ],
    [
      {prompt: [[5], [6, 7]], echo: true},
      {
        ...plain,
        requests: [
          {...request, prompt: {kind: 'tokens', tokens: [5]}, echo: true},
          {...request, prompt: {kind: 'tokens', tokens: [6, 7]}, echo: true},
        ],
      },
    ],
    [{echo: true, max_tokens: 0, logprobs: 1}, asking({echo: 'Once', maxTokens: 0, topLogprobs: 1})],
    [{model: 'my-run'}, {...plain, model: 'my-run'}],
    [{max_tokens: 7}, asking({maxTokens: 7})],
    [{max_tokens: -1}, asking({maxTokens: undefined})],
    [{temperature: 1, top_p: 0.5, seed: 3}, sampled({temperature: 1, topP: 0.5, seed: 3})],
    [{presence_penalty: 1, frequency_penalty: -1}, sampled({presencePenalty: 1, frequencyPenalty: -1})],
    [{logit_bias: {'5': 100}}, sampled({logitBias: {5: 100}})],
    [{stop: ['a', 'b']}, asking({stop: ['a', 'b']})],
    [
      {stream: true, stream_options: {include_usage: true}},
      {...plain, stream: true, includeUsage: true},
    ],
    [
      {n: 2, best_of: 2},
      {...plain, n: 2},
    ],
    [{best_of: 1}, plain],
    [{logprobs: 0}, asking({topLogprobs: 0})],
    [{logprobs: 5}, asking({topLogprobs: 5})],
    [{echo: false, suffix: '', best_of: null, logprobs: null, user: 'u'}, plain],
  ]
  for (const [body, expected] of accepted)
    it(`accepts ${JSON.stringify(body)}`, () => assert.deepEqual(read(body), expected))

  const refused: [body: object, sentence: string, param: string][] = [
    ...[5, {}, [-1], [1.5], [2 ** 60], [[]], ['a', [5]], [[5], 'a'], ['a', 5], [[5, 'a']]].map(
      (prompt): [object, string, string] => [
        {prompt},
        'prompt must be a string, a list of token ids, or a list of either',
        'prompt',
      ],
    ),
    [{prompt: []}, 'prompt must have at least 1 item', 'prompt'],
    [{prompt: Array.from({length: 129}, () => 'a')}, 'prompt must have at most 128 items', 'prompt'],
    [{prompt: Array.from({length: 43}, () => [5]), n: 3}, 'n must be at most 2 with 43 prompts', 'n'],
    [{max_tokens: -2}, 'max_tokens must be -1 or at least 0', 'max_tokens'],
    [{echo: 'yes'}, 'echo must be of type boolean', 'echo'],
    [{echo: true, suffix: 'end'}, 'echo must be false with suffix', 'echo'],
    [{prompt: [5], suffix: 'end'}, 'prompt must be a string or a list of strings with suffix', 'prompt'],
    [{temperature: 3}, 'temperature must be between 0 and 2', 'temperature'],
    [{n: 9}, 'n must be between 1 and 8', 'n'],
    [{best_of: 1.5}, 'best_of must be of type integer', 'best_of'],
    [{logprobs: 6}, 'logprobs must be between 0 and 5', 'logprobs'],
    [{logprobs: true}, 'logprobs must be of type integer', 'logprobs'],
    [{stop: Array(65).fill('a')}, 'stop must have at most 64 items', 'stop'],
  ]
  for (const [body, sentence, param] of refused)
    it(`rejects ${JSON.stringify(body).slice(0, 60)}`, () =>
      assert.throws(() => read(body), refusal('bad_request', sentence, param)))

  const unsupported: [body: object, sentence: string, param: string][] = [
    [{best_of: 3}, 'best_of must equal n, because all replies are returned', 'best_of'],
    [{n: 2, best_of: 1}, 'best_of must equal n, because all replies are returned', 'best_of'],
  ]
  for (const [body, sentence, param] of unsupported)
    it(`does not support ${JSON.stringify(body)}`, () =>
      assert.throws(() => read(body), refusal('unsupported_value', sentence, param)))
})
