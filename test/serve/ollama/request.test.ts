import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {ReplyFormat} from '../../../src/llm/index.js'
import {type OllamaRequest, readChat, readGenerate} from '../../../src/serve/ollama/request.js'
import type {ChatMessage} from '../../../src/text/index.js'
import {defaults, refusal} from '../samples.js'

const generate = (body: object) => readGenerate(body, defaults)
const chat = (body: object) => readChat(body, defaults)

const unsaid = {
  maxTokens: 512,
  stop: [],
  sampling: {
    temperature: 0.7,
    topK: 40,
    topP: 0.9,
    minP: 0,
    seed: 99,
    repeatPenalty: undefined,
    presencePenalty: 0,
    frequencyPenalty: 0,
    repeatLastN: 64,
    logitBias: {},
  },
}
const user = (content: string) => ({role: 'user' as const, content})
const system = (content: string) => ({role: 'system' as const, content})

const thinking = (enabled: boolean, expected: OllamaRequest): OllamaRequest => ({
  ...expected,
  request: {...expected.request, thinking: {enabled}},
})

describe('POST /api/generate', () => {
  const plain: OllamaRequest = {
    stream: true,
    load: false,
    numCtx: 8192,
    unknown: [],
    request: {...unsaid, prompt: {kind: 'chat', messages: [user('Hi')], overflow: 'refuse'}},
  }
  const withPrompt = (prompt: OllamaRequest['request']['prompt']) => ({...plain, request: {...plain.request, prompt}})
  const withFormat = (format: ReplyFormat) => ({...plain, request: {...plain.request, format}})
  const withVariables = (variables: object) =>
    withPrompt({kind: 'chat', messages: [user('Hi')], overflow: 'refuse', variables: {...variables}})

  const accepted: [what: string, body: object, expected: OllamaRequest][] = [
    ['a prompt', {}, plain],
    ['a model', {model: 'my-run'}, {...plain, model: 'my-run'}],
    ['no model', {model: ''}, plain],
    ['only null values', {model: null, stream: null, options: null, format: null, keep_alive: null, raw: null}, plain],
    ['stream false', {stream: false}, {...plain, stream: false}],
    ['stream true', {stream: true}, plain],
    ['keep_alive', {keep_alive: '10m'}, {...plain, keepAlive: 600_000}],
    ['options', {options: {num_ctx: 64, flux: 1}}, {...plain, numCtx: 64, unknown: ['options.flux']}],
    ['fields without effect', {shift: true, truncate: false, user: 'me'}, plain],
    ['unknown fields', {flux: 1, options: {stop: []}}, {...plain, unknown: ['flux']}],
    ['an empty system prompt', {system: ''}, plain],
    [
      'a system prompt',
      {system: 'Be brief.'},
      withPrompt({kind: 'chat', messages: [system('Be brief.'), user('Hi')], overflow: 'refuse'}),
    ],
    [
      'a context',
      {context: [1, 2, 3]},
      withPrompt({kind: 'chat', messages: [user('Hi')], overflow: 'refuse', context: [1, 2, 3]}),
    ],
    ['an empty context', {context: []}, plain],
    ['a raw prompt', {raw: true}, withPrompt({kind: 'raw', text: 'Hi'})],
    [
      'a raw prompt with empty other fields',
      {raw: true, system: '', template: '', context: []},
      withPrompt({kind: 'raw', text: 'Hi'}),
    ],
    ['raw false', {raw: false}, plain],
    [
      'a suffix',
      {suffix: 'end'},
      {...withPrompt({kind: 'insertion', text: 'Hi', suffix: 'end'}), requires: ['insert']},
    ],
    [
      'a suffix of an empty text',
      {prompt: '', suffix: 'end'},
      {...withPrompt({kind: 'insertion', text: '', suffix: 'end'}), requires: ['insert']},
    ],
    ['empty fields for unsupported features', {suffix: '', format: '', images: [], template: ''}, plain],
    ['JSON as the format', {format: 'json'}, withFormat({kind: 'json', field: 'format'})],
    [
      'a schema as the format',
      {format: {type: 'null'}},
      withFormat({kind: 'schema', schema: {type: 'null'}, field: 'format'}),
    ],
    [
      'formats of other servers',
      {guided_regex: 'a+'},
      withFormat({kind: 'regex', pattern: 'a+', field: 'guided_regex'}),
    ],
    ['think false', {think: false}, thinking(false, withVariables({enable_thinking: false, thinking: false}))],
    ['think false for a raw prompt', {think: false, raw: true}, thinking(false, withPrompt({kind: 'raw', text: 'Hi'}))],
    [
      'think true',
      {think: true},
      {...thinking(true, withVariables({enable_thinking: true, thinking: true})), requires: ['thinking']},
    ],
    [
      'variables of the template',
      {think: false, chat_template_kwargs: {thinking: null, n: [1]}},
      thinking(false, withVariables({enable_thinking: false, thinking: null, n: [1]})),
    ],
    ['logprobs', {logprobs: true}, {...plain, request: {...plain.request, topLogprobs: 0}}],
    ['top_logprobs', {logprobs: true, top_logprobs: 20}, {...plain, request: {...plain.request, topLogprobs: 20}}],
    ['top_logprobs without logprobs', {top_logprobs: 3}, plain],
    ['logprobs false', {logprobs: false, top_logprobs: 3}, plain],
  ]
  for (const [what, body, expected] of accepted)
    it(`accepts ${what}`, () => assert.deepEqual(generate({prompt: 'Hi', ...body}), expected))

  for (const body of [{}, {prompt: ''}, {prompt: null}, {prompt: '', keep_alive: 0}])
    it(`loads or unloads the model for ${JSON.stringify(body)}`, () => assert.equal(generate(body).load, true))

  const rawError = 'raw mode does not support template, system, context, think, or chat_template_kwargs'
  const refused: [body: object, sentence: string, param: string][] = [
    [{prompt: 5}, 'prompt must be of type string', 'prompt'],
    [{model: 5}, 'model must be of type string', 'model'],
    [{stream: 'yes'}, 'stream must be of type boolean', 'stream'],
    [{options: 'hot'}, 'options must be of type object', 'options'],
    [{options: {top_k: '5'}}, 'option "top_k" must be of type integer', 'options.top_k'],
    [{system: 5}, 'system must be of type string', 'system'],
    [{raw: 1}, 'raw must be of type boolean', 'raw'],
    [{shift: 1}, 'shift must be of type boolean', 'shift'],
    [{truncate: 1}, 'truncate must be of type boolean', 'truncate'],
    [{context: 'abc'}, 'context must be of type list of integers', 'context'],
    [{context: [1, 0.5]}, 'context must be of type list of integers', 'context'],
    [{context: [-1]}, 'context must be at least 0', 'context'],
    [{raw: true, chat_template_kwargs: {}}, rawError, 'raw'],
    [{raw: true, system: 'x'}, rawError, 'raw'],
    [{raw: true, think: true}, rawError, 'raw'],
    [{raw: true, context: [1]}, rawError, 'raw'],
    [{template: '{{ .Prompt }}'}, 'this server does not support custom templates (template must be "")', 'template'],
    [{suffix: 5}, 'suffix must be of type string', 'suffix'],
    [{suffix: 'end', raw: true}, 'suffix must be omitted in raw mode', 'suffix'],
    ...[{system: 'x'}, {context: [1]}, {think: true}, {chat_template_kwargs: {}}].map(
      (field): [object, string, string] => [
        {suffix: 'end', ...field},
        rawError.replace('raw mode', 'suffix'),
        'suffix',
      ],
    ),
    [{model: 'my-run', images: ['iVBO']}, 'this server does not support images (images must be [])', 'images'],
    [{format: 'yaml'}, 'format must be "json" or a JSON Schema', 'format'],
    [{format: ['json']}, 'format must be "json" or a JSON Schema', 'format'],
    [{format: 'json', guided_regex: 'a'}, 'guided_regex must be omitted with format', 'guided_regex'],
    [{response_format: {type: 'text'}}, 'this server does not support response_format (use format)', 'response_format'],
    [{logprobs: 5}, 'logprobs must be of type boolean', 'logprobs'],
    [{top_logprobs: 21}, 'top_logprobs must be between 0 and 20', 'top_logprobs'],
    [{top_logprobs: -1}, 'top_logprobs must be between 0 and 20', 'top_logprobs'],
    [{top_logprobs: '5'}, 'top_logprobs must be of type integer', 'top_logprobs'],
    [{keep_alive: '5'}, 'keep_alive must be a number of seconds or a duration such as "10m"', 'keep_alive'],
  ]
  for (const [body, sentence, param] of refused)
    it(`rejects ${JSON.stringify(body)}`, () =>
      assert.throws(() => generate({prompt: 'Hi', ...body}), refusal('bad_request', sentence, param)))

  it('rejects a missing body', () =>
    assert.throws(() => readGenerate(undefined, defaults), refusal('body_missing', 'missing request body', null)))
})

describe('POST /api/chat', () => {
  const plain: OllamaRequest = {
    stream: true,
    load: false,
    numCtx: 8192,
    unknown: [],
    request: {...unsaid, prompt: {kind: 'chat', messages: [user('Hi')], overflow: 'drop_oldest'}},
  }
  const withMessages = (messages: ChatMessage[]): OllamaRequest => ({
    ...plain,
    load: messages.length === 0,
    request: {...plain.request, prompt: {kind: 'chat', messages, overflow: 'drop_oldest'}},
  })

  const accepted: [what: string, body: object, expected: OllamaRequest][] = [
    ['one message', {}, plain],
    ['stream false', {stream: false}, {...plain, stream: false}],
    ['model and keep_alive', {model: 'm', keep_alive: -1}, {...plain, model: 'm', keepAlive: 'forever'}],
    [
      'truncate false',
      {truncate: false},
      {...plain, request: {...plain.request, prompt: {kind: 'chat', messages: [user('Hi')], overflow: 'refuse'}}},
    ],
    ['truncate true', {truncate: true}, plain],
    ['empty fields for unsupported features', {tools: [], format: ''}, plain],
    [
      'tools',
      {tools: [{function: {name: 'f', parameters: {type: 'object'}}}]},
      {
        ...plain,
        request: {
          ...plain.request,
          tools: {
            tools: [{name: 'f', field: 'tools[0].function.parameters', parameters: {type: 'object'}}],
            choice: 'auto',
            parallel: true,
          },
        },
        requires: ['tools'],
      },
    ],
    ['logprobs', {logprobs: true, top_logprobs: 2}, {...plain, request: {...plain.request, topLogprobs: 2}}],
    [
      'a conversation',
      {
        messages: [
          {role: 'System', content: 'Be brief.'},
          {role: 'USER', content: 'Hi', images: [], tool_calls: null},
          {role: 'assistant', content: 'Hello', thinking: 'They greet.', tool_calls: []},
          {role: 'user', content: null},
          {role: 'user'},
        ],
      },
      withMessages([
        system('Be brief.'),
        user('Hi'),
        {role: 'assistant', content: 'Hello', reasoning_content: 'They greet.'},
        user(''),
        user(''),
      ]),
    ],
    [
      'tool calls and their results',
      {
        messages: [
          {role: 'assistant', tool_calls: [{function: {index: 0, name: 'f', arguments: {x: 1}}}]},
          {role: 'Tool', content: '21', tool_name: 'f', tool_call_id: 'c'},
        ],
      },
      withMessages([
        {
          role: 'assistant',
          content: null,
          tool_calls: [{type: 'function', function: {name: 'f', arguments: {x: 1}}}],
        },
        {role: 'tool', content: '21', name: 'f', tool_call_id: 'c'},
      ]),
    ],
    ['no messages', {messages: []}, withMessages([])],
    ['null messages', {messages: null}, withMessages([])],
  ]
  for (const [what, body, expected] of accepted)
    it(`accepts ${what}`, () => assert.deepEqual(chat({messages: [user('Hi')], ...body}), expected))

  it('accepts at most 4096 messages', () => {
    assert.doesNotThrow(() => chat({messages: Array(4096).fill(user('Hi'))}))
    assert.throws(
      () => chat({messages: Array(4097).fill(user('Hi'))}),
      refusal('bad_request', 'messages must have at most 4096 items', 'messages'),
    )
  })

  const refused: [body: object, sentence: string, param: string][] = [
    [{messages: 'Hi'}, 'messages must be of type list of objects', 'messages'],
    [{messages: ['Hi']}, 'messages[0] must be of type object', 'messages[0]'],
    [
      {messages: [{content: 'Hi'}]},
      'messages[0].role must be one of system, user, assistant, tool',
      'messages[0].role',
    ],
    [
      {messages: [{role: 'wizard'}]},
      'messages[0].role must be one of system, user, assistant, tool',
      'messages[0].role',
    ],
    [{messages: [{role: 5}]}, 'messages[0].role must be of type string', 'messages[0].role'],
    [{messages: [{role: 'user', content: 5}]}, 'messages[0].content must be of type string', 'messages[0].content'],
    [{messages: [{role: 'user', content: [{}]}]}, 'messages[0].content must be of type string', 'messages[0].content'],
    [{messages: [{role: 'user', thinking: 5}]}, 'messages[0].thinking must be of type string', 'messages[0].thinking'],
    [
      {messages: [{role: 'user', images: ['iVBO']}]},
      'this server does not support images (messages[0].images must be [])',
      'messages[0].images',
    ],
    [
      {messages: [{role: 'assistant', tool_calls: [{}]}]},
      'messages[0].tool_calls[0].function must be a function with a name',
      'messages[0].tool_calls[0].function',
    ],
    [{tools: [{type: 'function'}]}, 'tools[0].function must be present', 'tools[0].function'],
    [
      {chat_template_kwargs: {tools: []}},
      'this server does not support chat_template_kwargs.tools',
      'chat_template_kwargs.tools',
    ],
    [{temperature: 0}, 'this server does not support temperature (use options.temperature)', 'temperature'],
    [{format: 'xml'}, 'format must be "json" or a JSON Schema', 'format'],
    [{think: 'a lot'}, 'think must be true, false, low, medium, high or max', 'think'],
    [{stream: 1}, 'stream must be of type boolean', 'stream'],
    [{truncate: 1}, 'truncate must be of type boolean', 'truncate'],
    [{top_logprobs: 21}, 'top_logprobs must be between 0 and 20', 'top_logprobs'],
    [{options: {num_predict: -3}}, 'option "num_predict" must be at least -2', 'options.num_predict'],
  ]
  for (const [body, sentence, param] of refused)
    it(`rejects ${JSON.stringify(body)}`, () =>
      assert.throws(
        () => chat({model: 'my-run', messages: [user('Hi')], ...body}),
        refusal('bad_request', sentence, param),
      ))
})
