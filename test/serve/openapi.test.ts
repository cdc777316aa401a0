import assert from 'node:assert/strict'
import {rm, writeFile} from 'node:fs/promises'
import {type IncomingMessage, request} from 'node:http'
import {join} from 'node:path'
import {text} from 'node:stream/consumers'
import {after, before, describe, it} from 'node:test'
import {fastify} from 'fastify'
import {errorCatalogue} from '../../src/errors/catalogue.js'
import {asAnthropicError, asOllamaError, asOpenAiError, type ErrorRow, SvcError} from '../../src/errors/index.js'
import {adapterRoutes} from '../../src/serve/adapter-routes.js'
import {anthropicRoutes} from '../../src/serve/anthropic/routes.js'
import type {ServeContext} from '../../src/serve/context.js'
import {version} from '../../src/serve/ollama/model.js'
import {ollamaRoutes} from '../../src/serve/ollama/routes.js'
import {openaiRoutes} from '../../src/serve/openai/routes.js'
import {type Route, requestFields} from '../../src/serve/request-fields.js'
import {chatml} from '../../src/text/index.js'
import {startHub} from '../support/hub-server.js'
import {openContract, type Received} from '../support/openapi.js'
import {type RunningServer, startServer} from '../support/server.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, tinyModelFiles, writeTinyModel} from '../support/tiny-model.js'
import {until} from '../support/until.js'

const contract = await openContract('serve/inference.openapi')
const {document, operations, violations, visit} = contract
const routesOf = (path?: string) =>
  operations.filter((one) => path === undefined || one.path === path).map(({method, path}) => `${method} ${path}`)

interface Asked {
  headers?: Record<string, string>
  /** Value of the path parameter. */
  part?: string
  /** A string is sent unchanged. */
  body?: object | string
  /** Declares a body of this size without sending it, bytes. */
  length?: number
}

function ask({baseUrl}: RunningServer, method: string, path: string, asked: Asked = {}): Promise<Received> {
  const {headers = {}, part = 'tiny', body, length} = asked
  return new Promise((resolve, reject) => {
    const read = (response: IncomingMessage) =>
      text(response).then((whole) => {
        resolve({status: response.statusCode ?? 0, headers: response.headers, text: whole})
        outgoing.destroy()
      }, reject)
    const url = baseUrl + path.replace(/\{\w+\}/, part)
    const outgoing = request(url, {method, headers, agent: false}, read).on('error', reject)
    const content = typeof body === 'object' ? JSON.stringify(body) : (body ?? '')
    outgoing.setHeader('content-length', length ?? Buffer.byteLength(content))
    if (length === undefined) outgoing.end(content)
    else outgoing.flushHeaders()
  })
}

const seen = new Set<string>()

/** Sends a request and asserts that the response is documented. */
async function askDocumented(
  server: RunningServer,
  method: string,
  path: string,
  asked: Asked = {},
): Promise<Received> {
  const answer = await ask(server, method, path, asked)
  contract.assertDocumented(method, path, answer)
  seen.add(`${method} ${path} ${answer.status}`)
  return answer
}

function dialectOf(path: string): string {
  if (path.startsWith('/v1/messages')) return 'Anthropic'
  return path.startsWith('/v1/') ? 'OpenAi' : 'Ollama'
}

describe('the OpenAPI document of the inference server', () => {
  it('describes exactly the routes of the server', async () => {
    const app = fastify()
    // Routes of the server itself; the two APIs add theirs.
    const served = new Set(['/', '/health', '/metrics'].flatMap((path) => [`GET ${path}`, `HEAD ${path}`]))
    app.addHook('onRoute', ({method, url}) => {
      for (const one of [method].flat()) served.add(`${one} ${url.replace(/:(\w+)/g, '{$1}')}`)
    })
    ollamaRoutes(app, {} as ServeContext)
    openaiRoutes(app, {} as ServeContext)
    adapterRoutes(app, {} as ServeContext, undefined)
    anthropicRoutes(app, {} as ServeContext)
    await app.ready()
    assert.deepEqual(routesOf().sort(), [...served].sort())
  })

  it('has no dangling references and no unused components', () => {
    const {broken, unused} = contract.looseEnds()
    assert.deepEqual(broken, [])
    const ofNoOperation = ['Ollama', 'OpenAi', 'Anthropic'].flatMap((dialect) => [
      `#/components/responses/${dialect}RouteUnknown`,
      `#/components/responses/${dialect}MethodNotAllowed`,
    ])
    assert.deepEqual(unused, ofNoOperation)
  })

  it('has all schemas in its components', () => {
    const {components, paths} = document
    visit({paths, headers: components.headers, responses: components.responses}, (key, value) => {
      if (key === 'schema') assert.deepEqual(Object.keys(value), ['$ref'])
    })
  })

  /** Schemas of the objects in requests, and the prefix of the paths of their fields. */
  const objects: readonly (readonly [schema: string, route: Route, prefix: string])[] = [
    ['OllamaGenerateRequest', '/api/generate', ''],
    ['OllamaChatRequest', '/api/chat', ''],
    ['OllamaMessage', '/api/chat', 'messages[].'],
    ['OllamaOptions', '/api/chat', 'options.'],
    ['OpenAiChatRequest', '/v1/chat/completions', ''],
    ['OpenAiMessage', '/v1/chat/completions', 'messages[].'],
    ['OpenAiTextPart', '/v1/chat/completions', 'messages[].content[].'],
    ['OpenAiStreamOptions', '/v1/chat/completions', 'stream_options.'],
    ['OpenAiCompletionRequest', '/v1/completions', ''],
    ['ResponsesRequest', '/v1/responses', ''],
    ['ResponsesInputItem', '/v1/responses', 'input[].'],
    ['ResponsesReasoning', '/v1/responses', 'reasoning.'],
    ['MessagesRequest', '/v1/messages', ''],
    ['InputMessage', '/v1/messages', 'messages[].'],
    ['MessagesThinking', '/v1/messages', 'thinking.'],
  ]
  for (const [schema, route, prefix] of objects)
    it(`lists the fields that work, and none that the table of fields lacks: ${schema}`, () => {
      const rows = requestFields.filter(({path, routes}) => routes.includes(route) && path.startsWith(prefix))
      const namesOf = (some: typeof rows) =>
        some.map(({path}) => path.slice(prefix.length)).filter((name) => !/[.[]/.test(name))
      const {properties} = document.components.schemas[schema] as {properties: object}
      const documented = Object.keys(properties)
      const unlisted = documented.filter((name) => !namesOf(rows).includes(name))
      const working = namesOf(rows.filter(({outcome}) => outcome.kind === 'works'))
      assert.deepEqual([unlisted, working.filter((name) => !documented.includes(name))], [[], []])
    })

  it('has unique operation ids', () => {
    const ids = operations.map(({operation}) => operation.operationId)
    assert.equal(new Set(ids).size, ids.length)
  })

  it('lists the error codes for OpenAI clients', () => {
    const rows = Object.values(errorCatalogue() as Record<string, ErrorRow<never>>)
    const fixed = rows.flatMap(({openai}) => (typeof openai === 'function' ? [] : [openai ?? null]))
    // A bad request has the code that its reader gives it: that of an unknown field of a form.
    const codes = new Set([...fixed, 'unknown_parameter'])
    const error = document.components.schemas.OpenAiError as {
      properties: {error: {properties: {code: {enum: string[]}}}}
    }
    assert.deepEqual(new Set(error.properties.error.properties.code.enum), codes)
  })

  it('describes failed streams and a server with a GPU', () => {
    const error = new SvcError('terminated', {})
    for (const name of ['OllamaChatLine', 'OllamaGenerateLine'])
      assert.equal(violations(name, asOllamaError(error)), '')
    for (const name of ['OpenAiChatEvent', 'OpenAiCompletionEvent'])
      assert.equal(violations(name, asOpenAiError(error)), '')
    assert.equal(violations('MessageEvent', asAnthropicError(error)), '')
    assert.equal(violations('OllamaVersion', version('0.1.0', 'cuda:0')), '')
  })

  it('allows no undocumented fields in responses', () => {
    const undocumented: readonly [string, object][] = [
      ['OllamaError', {error: 'x', code: 'x'}],
      ['OllamaChatLine', {model: 'm', created_at: '2026-01-05T10:11:12Z', message: {}, done: false}],
      ['OllamaVersion', {...version('0.1.0', 'cpu'), cuda: false}],
      ['OpenAiError', {error: {message: 'x', type: 'server_error', param: null}}],
      ['OpenAiUsage', {prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, cost: 0}],
    ]
    for (const [name, value] of undocumented) assert.notEqual(violations(name, value), '', name)
  })
})

const few = {options: {num_predict: 3, seed: 1}}
const user = [{role: 'user', content: 'Hi'}]

const tool = {type: 'function', function: {name: 'clock', description: 'Returns the time'}}

/** Successful requests by route. */
const answered: readonly [path: string, body: object][] = [
  ['/api/show', {model: 'tiny'}],
  ['/api/show', {name: 'tiny', model: null, verbose: true}],
  ['/api/chat', {messages: user, ...few}],
  ['/api/chat', {messages: user, ...few, logprobs: true, top_logprobs: 2}],
  ['/api/chat', {model: 'tiny:latest', messages: user, ...few, stream: false, logprobs: true}],
  ['/api/chat', {messages: user, ...few, stream: false, tools: [], format: '', think: false, keep_alive: '1h30m'}],
  ['/api/chat', {messages: user, ...few, stream: false, format: 'json'}],
  [
    '/api/generate',
    {prompt: 'Hi', ...few, stream: false, format: {type: 'object', properties: {a: {type: 'integer'}}}},
  ],
  ['/api/chat', {messages: []}],
  ['/api/generate', {prompt: 'Hi', ...few}],
  ['/api/generate', {prompt: 'Hi', ...few, logprobs: true, top_logprobs: 2}],
  ['/api/generate', {prompt: 'Hi', ...few, stream: false, logprobs: true, top_logprobs: 2}],
  ['/api/generate', {prompt: 'Hi', raw: true, stream: false, options: {stop: ['a', 'b'], num_predict: 3}}],
  ['/api/generate', {prompt: 'Hi', system: 'Be brief.', context: [72, 105], stream: false, ...few}],
  ['/api/generate', {prompt: null, options: null, keep_alive: -1}],
  ['/v1/chat/completions', {messages: user, max_tokens: 3}],
  ['/v1/chat/completions', {messages: user, max_tokens: 3, n: 2, logprobs: true, top_logprobs: 2, seed: 1}],
  ['/v1/chat/completions', {messages: user, max_tokens: 3, stream: true, logprobs: true, n: 2}],
  ['/v1/chat/completions', {messages: user, max_tokens: 3, stream: true, stream_options: {include_usage: true}}],
  [
    '/v1/chat/completions',
    {
      model: 'tiny',
      messages: [
        {role: 'developer', content: [{type: 'text', text: 'Be brief.'}]},
        {role: 'user', content: 'Hi', name: 'Ann'},
      ],
      max_completion_tokens: 1,
      stop: 'x',
      logit_bias: {72: -100},
      response_format: {type: 'text'},
      reasoning_effort: 'low',
      chat_template_kwargs: {a: [1]},
      tool_choice: 'auto',
      user: 'ann',
    },
  ],
  ...[
    {response_format: {type: 'json_object'}},
    {response_format: {type: 'json_object', schema: {type: 'object'}}},
    {response_format: {type: 'json_schema', json_schema: {name: 'a', strict: false, schema: {type: 'string'}}}},
    {guided_json: '{"type": "integer"}'},
    {guided_regex: '[0-9]+'},
    {guided_choice: ['yes', 'no']},
    {structured_outputs: {choice: ['yes', 'no']}},
    {structured_outputs: {json_object: true}},
    {json_schema: {type: 'boolean'}},
    {grammar: 'root ::= "a"'},
  ].map((field): [string, object] => ['/v1/chat/completions', {messages: user, max_tokens: 3, ...field}]),
  ...[{}, {stream: true}, {stream: true, stream_options: {include_usage: true}}].map((field): [string, object] => [
    '/v1/chat/completions',
    {messages: user, max_tokens: 100, tools: [tool], tool_choice: 'required', parallel_tool_calls: false, ...field},
  ]),
  ...[{}, {stream: false}].map((field): [string, object] => [
    '/api/chat',
    {messages: user, tools: [tool], tool_choice: {type: 'function', function: {name: 'clock'}}, ...field},
  ]),
  ...[
    {},
    {stream: true},
    {stream: true, top_logprobs: 1},
    {include: ['message.output_text.logprobs']},
    {instructions: 'Be brief.', reasoning: {effort: 'low', summary: 'auto'}, metadata: {a: 'b'}, truncation: 'auto'},
    {text: {format: {type: 'json_schema', name: 'empty', schema: {type: 'object'}}}},
    {
      input: [
        {role: 'developer', content: 'Be brief.'},
        {role: 'user', content: [{type: 'input_text', text: 'Hi'}]},
      ],
    },
  ].map((field): [string, object] => ['/v1/responses', {input: 'Hi', max_output_tokens: 3, ...field}]),
  ...[{}, {stream: true}].map((field): [string, object] => [
    '/v1/responses',
    {
      input: 'Hi',
      max_output_tokens: 100,
      tools: [{type: 'function', name: 'clock'}, {type: 'web_search'}],
      tool_choice: 'required',
      parallel_tool_calls: false,
      ...field,
    },
  ]),
  ...[
    {},
    {stream: true},
    {system: [{type: 'text', text: 'Be brief.', cache_control: {type: 'ephemeral'}}], stop_sequences: ['x']},
    {thinking: {type: 'enabled', budget_tokens: 1024}, output_config: {effort: 'low'}},
    {context_management: {edits: [{type: 'clear_thinking_20251015', keep: 'all'}]}, top_k: 5},
  ].map((field): [string, object] => ['/v1/messages', {messages: user, max_tokens: 3, ...field}]),
  ...[{}, {stream: true}].map((field): [string, object] => [
    '/v1/messages',
    {
      messages: user,
      max_tokens: 100,
      tools: [{name: 'clock', input_schema: {type: 'object'}}],
      tool_choice: {type: 'any'},
      ...field,
    },
  ]),
  ['/v1/messages/count_tokens', {messages: user}],
  ['/v1/completions', {prompt: 'Hi', max_tokens: 3, response_format: {type: 'json_object'}}],
  ['/v1/completions', {prompt: 'Hi', max_tokens: 3}],
  ['/v1/completions', {prompt: ['Hi'], max_tokens: 3, n: 2, best_of: 2, logprobs: 2, echo: false}],
  ['/v1/completions', {prompt: ['Hi', 'Ho'], max_tokens: 3, n: 2, stream: true, stream_options: {include_usage: true}}],
  ['/v1/completions', {prompt: [72, 105], max_tokens: 3, echo: true}],
  ['/v1/completions', {prompt: [[72, 105], [72]], max_tokens: 1, echo: true, logprobs: 1}],
  ['/v1/completions', {prompt: 'Hi', max_tokens: 0, echo: true, logprobs: 2, stream: true}],
  ['/v1/completions', {max_tokens: 3, logprobs: 0, stream: true}],
  ['/v1/completions', {prompt: 'Hi', max_tokens: 3, stream: true, stream_options: {include_usage: true}, logprobs: 1}],
]

/** Invalid requests by route. */
const malformed: readonly [path: string, body: object][] = [
  ['/api/show', {}],
  ['/api/show', {model: ''}],
  ['/api/chat', []],
  ['/api/chat', {messages: 'Hi'}],
  ['/api/chat', {messages: [{role: 'wizard', content: 'x'}]}],
  ['/api/chat', {messages: [{content: 'x'}]}],
  ['/api/chat', {messages: [{role: 'user', content: 'x', images: ['aGk=']}]}],
  ['/api/chat', {messages: user, tools: [{type: 'function'}]}],
  ['/api/chat', {messages: user, format: 'yaml'}],
  ['/api/generate', {prompt: 'x', format: true}],
  ['/api/generate', {prompt: 'x', guided_choice: []}],
  ['/api/chat', {messages: user, think: 'x'}],
  ['/api/chat', {messages: user, keep_alive: '10'}],
  ['/api/chat', {messages: user, top_logprobs: 21}],
  ['/api/generate', {prompt: 7}],
  ['/api/generate', {prompt: 'x', stream: 'yes'}],
  ['/api/generate', {prompt: 'x', suffix: 5}],
  ['/api/generate', {prompt: 'x', template: 'y'}],
  ['/api/generate', {prompt: 'x', context: [-1]}],
  ...[
    {temperature: -1},
    {top_k: 1.5},
    {top_p: 1.1},
    {min_p: -0.1},
    {seed: 'x'},
    {repeat_penalty: 0},
    {presence_penalty: 101},
    {frequency_penalty: -101},
    {repeat_last_n: -2},
    {num_predict: -3},
    {num_ctx: 0},
    {num_keep: 'x'},
    {stop: 7},
    {stop: ['x'.repeat(1001)]},
    {stop: Array.from({length: 65}, String)},
  ].map((options): [string, object] => ['/api/generate', {prompt: 'x', options}]),
  ['/v1/chat/completions', {}],
  ['/v1/chat/completions', {messages: []}],
  ['/v1/chat/completions', {messages: null}],
  ['/v1/chat/completions', {messages: [{role: 'user'}]}],
  ['/v1/chat/completions', {messages: [{role: 'assistant', content: null, tool_calls: []}]}],
  ['/v1/chat/completions', {messages: [{role: 'assistant', tool_calls: [{function: {}}]}]}],
  ['/v1/chat/completions', {messages: [{role: 'user', content: [{type: 'image_url'}]}]}],
  ...[
    {max_tokens: 0},
    {max_completion_tokens: 1.5},
    {temperature: 2.1},
    {top_p: -1},
    {top_k: 'x'},
    {min_p: 2},
    {repetition_penalty: 0},
    {presence_penalty: 3},
    {frequency_penalty: -3},
    {n: 0},
    {n: 9},
    {seed: 1.5},
    {stop: Array.from({length: 65}, String)},
    {logit_bias: {72: 101}},
    {logit_bias: {x: 1}},
    {logprobs: 1},
    {top_logprobs: 21, logprobs: true},
    {stream_options: {include_usage: 1}},
    {tools: [{}]},
    {tool_choice: 'any'},
    {functions: []},
    {function_call: 'auto'},
    {response_format: {}},
    {response_format: {type: 'xml'}},
    {response_format: {type: 'json_schema'}},
    {response_format: {type: 'json_schema', json_schema: {name: 'a'}}},
    {response_format: {type: 'json_schema', json_schema: {schema: 5}}},
    {structured_outputs: {regex: 5}},
    {guided_regex: 5},
    {reasoning_effort: 'huge'},
    {think: 'x'},
    {chat_template_kwargs: {tools: []}},
    {modalities: ['audio']},
    {parallel_tool_calls: 1},
  ].map((field): [string, object] => ['/v1/chat/completions', {messages: user, ...field}]),
  ['/v1/completions', {prompt: ['x', [1]]}],
  ['/v1/completions', {prompt: []}],
  ['/v1/completions', {prompt: [[]]}],
  ['/v1/completions', {prompt: [-1]}],
  ['/v1/completions', {prompt: Array.from({length: 129}, () => 'x')}],
  ['/v1/completions', {prompt: 'x', max_tokens: -2}],
  ['/v1/completions', {prompt: 'x', logprobs: 6}],
  ['/v1/completions', {prompt: 'x', echo: 'yes'}],
  ['/v1/completions', {prompt: 'x', suffix: 5}],
  ['/v1/completions', {prompt: 'x', best_of: 'x'}],
  ...[
    {},
    {input: 5},
    {input: []},
    {input: [{type: 'web_search_call'}]},
    {input: [{role: 'wizard', content: 'x'}]},
    {input: 'x', instructions: 5},
    {input: 'x', max_output_tokens: 0},
    {input: 'x', truncation: 'always'},
    {input: 'x', reasoning: {effort: 'huge'}},
    {input: 'x', reasoning: {summary: 'long'}},
    {input: 'x', tools: 'all'},
    {input: 'x', tool_choice: 5},
    {input: 'x', top_logprobs: 21},
    {input: 'x', metadata: 'y'},
    {input: 'x', user: 5},
    {input: 'x', stream: 'yes'},
  ].map((body): [string, object] => ['/v1/responses', body]),
  ...[
    {},
    {messages: []},
    {messages: [{role: 'wizard', content: 'x'}]},
    {messages: [{role: 'user'}]},
    {messages: user, system: 5},
    {messages: user, max_tokens: -1},
    {messages: user, stop_sequences: 5},
    {messages: user, thinking: {type: 'deep'}},
    {messages: user, thinking: {type: 'enabled', budget_tokens: 0}},
    {messages: user, output_config: 'high'},
    {messages: user, tools: {}},
    {messages: user, tool_choice: 'auto'},
    {messages: user, temperature: 3},
    {messages: user, context_management: []},
  ].map((body): [string, object] => ['/v1/messages', body]),
  ['/v1/messages/count_tokens', {messages: []}],
]

/** Other error responses. */
const refused: readonly [status: number, method: string, path: string, asked: Asked][] = [
  [400, 'POST', '/api/chat', {body: '{"messages":'}],
  [400, 'POST', '/api/generate', {}],
  [400, 'POST', '/api/generate', {body: {prompt: 'x', raw: true, system: 'y'}}],
  [400, 'POST', '/api/generate', {body: {prompt: 'x'.repeat(5000), raw: true}}],
  [400, 'POST', '/v1/chat/completions', {body: '\u{feff}'}],
  [400, 'POST', '/v1/chat/completions', {body: {messages: user, top_logprobs: 1}}],
  [400, 'POST', '/v1/chat/completions', {body: {messages: [{role: 'user', content: 'x'.repeat(5000)}]}}],
  [400, 'POST', '/v1/completions', {body: {prompt: 'x', best_of: 2}}],
  [400, 'POST', '/v1/completions', {body: {prompt: Array.from({length: 65}, () => 'x'), n: 2}}],
  [400, 'POST', '/v1/completions', {body: {prompt: [[99_999], [1]]}}],
  [400, 'GET', '/v1/models/{id}', {part: 'x'.repeat(1025)}],
  [400, 'HEAD', '/v1/models/{id}', {part: '%zz'}],
  [404, 'POST', '/api/show', {body: {model: 'tinny'}}],
  [404, 'POST', '/api/chat', {body: {model: 'tinny', messages: user}}],
  [404, 'POST', '/api/generate', {body: {model: 'tinny', prompt: 'x'}}],
  [404, 'GET', '/v1/models/{id}', {part: 'tinny'}],
  [404, 'HEAD', '/v1/models/{id}', {part: 'tinny'}],
  [404, 'POST', '/v1/chat/completions', {body: {model: 'tinny', messages: user}}],
  [404, 'POST', '/v1/completions', {body: {model: 'tinny', prompt: 'x'}}],
  [400, 'POST', '/v1/responses', {body: {input: 'x', previous_response_id: 'resp_1'}}],
  [400, 'POST', '/v1/responses', {body: {input: 'x'.repeat(5000)}}],
  [404, 'POST', '/v1/responses', {body: {model: 'tinny', input: 'x'}}],
  [400, 'POST', '/v1/messages', {body: {messages: [{role: 'user', content: 'x'.repeat(5000)}]}}],
  [400, 'POST', '/v1/messages', {body: '{'}],
  [404, 'POST', '/v1/messages', {body: {model: 'tinny', messages: user}}],
  [404, 'POST', '/v1/messages/count_tokens', {body: {model: 'tinny', messages: user}}],
]

const withBody = operations.filter(({operation}) => operation.requestBody !== undefined)
const limitedKey = 'a-key-with-a-small-budget'

/** Valid bodies of the generation routes. */
const valid: Readonly<Record<string, object>> = {
  '/api/chat': {messages: user, stream: false, ...few},
  '/api/generate': {prompt: 'Hi', stream: false, ...few},
  '/v1/chat/completions': {messages: user, max_tokens: 3},
  '/v1/completions': {prompt: 'Hi', max_tokens: 3},
  '/v1/responses': {input: 'Hi', max_output_tokens: 3},
  '/v1/messages': {messages: user, max_tokens: 3},
}

describe('responses of the inference server match its OpenAPI document', () => {
  const folder = suiteFolder()
  const model = join(folder, 'tiny')
  const pulled = {
    commit: 'a'.repeat(40),
    revisions: ['main'],
    files: tinyModelFiles({layout: 'single'}),
    large: ['model.safetensors'],
  }
  const closers: (() => void)[] = []
  let server: RunningServer
  let busy: RunningServer
  before(async () => {
    await writeTinyModel(model, {contextLength: 4096})
    await writeFiles(model, {'chat_template.jinja': chatml})
    const hub = await startHub({after: (close) => closers.push(close)}, {'acme/llama': pulled})
    const args = ['--model', model]
    server = await startServer(args)
    for (const name of ['fixed', 'first']) await writeFiles(join(folder, 'adapters', name), tinyAdapterFiles())
    const adapters = ['--adapter', `fixed=${join(folder, 'adapters', 'fixed')}`, '--adapters', join(folder, 'adapters')]
    const keys = join(folder, 'keys.toml')
    await writeFile(keys, `[keys.limited]\nkey = "${limitedKey}"\nrequests_per_minute = 1\n`, {mode: 0o600})
    const manages = ['--models', 'pulled', '--manage-models', '--api-key-env', 'KEY', '--api-keys', keys, ...adapters]
    busy = await startServer([...args, ...manages, '--parallel', '1', '--queue', '0'], {
      env: {KEY: 'sesame', SVC_ADMIN_KEY: 'admin', HF_HOME: join(folder, 'hf'), HF_ENDPOINT: hub.endpoint},
    })
  })
  after(async () => {
    await Promise.all([server, busy].map((one) => one?.stop()))
    for (const close of closers) close()
  })

  for (const {method, path, operation} of operations.filter(({method}) => method === 'GET' || method === 'HEAD'))
    it(`${method} ${path}`, async () => {
      const {status} = await askDocumented(server, method, path)
      assert.ok('200' in operation.responses)
      assert.equal(status, 200)
    })

  for (const [path, body] of answered)
    it(`POST ${path} with ${JSON.stringify(body).slice(0, 60)}`, async () => {
      assert.equal(violations(contract.bodySchema(path), body), '')
      const {status, text: answer} = await askDocumented(server, 'POST', path, {body})
      assert.equal(status, 200, answer)
    })

  for (const [path, body] of malformed)
    it(`POST ${path} with invalid ${JSON.stringify(body).slice(0, 60)}`, async () => {
      assert.notEqual(violations(contract.bodySchema(path), body), '')
      const {status, text: answer} = await askDocumented(server, 'POST', path, {body})
      assert.equal(status, 400, answer)
    })

  for (const [status, method, path, asked] of refused)
    it(`${status} for ${method} ${path} with ${JSON.stringify(asked).slice(0, 60)}`, async () => {
      assert.equal((await askDocumented(server, method, path, asked)).status, status)
    })

  it('rejects unsupported routes regardless of the body', async () => {
    for (const {method, path, operation} of operations)
      if (!('200' in operation.responses)) {
        const expected = '501' in operation.responses ? 501 : 400
        assert.equal((await askDocumented(server, method, path, {body: '{'})).status, expected, path)
      }
  })

  it('413 for bodies that are too large', async () => {
    for (const {method, path} of withBody)
      assert.equal((await askDocumented(server, method, path, {length: (8 << 20) + 1})).status, 413, path)
  })

  it('403 for foreign hosts and origins', async () => {
    for (const {method, path} of operations)
      for (const headers of [{host: 'evil.example'}, {origin: 'https://evil.example'}])
        assert.equal((await askDocumented(server, method, path, {headers})).status, 403, path)
  })

  it('401 without the key, except for public routes', async () => {
    for (const {method, path, operation} of operations) {
      const isOpen = operation.security?.length === 0
      assert.equal((await askDocumented(busy, method, path)).status, isOpen ? 200 : 401, path)
    }
    const {status} = await askDocumented(busy, 'GET', '/api/tags', {headers: {authorization: 'Bearer sesame'}})
    assert.equal(status, 200)
  })

  it('405 for undocumented methods', async () => {
    for (const path of Object.keys(document.paths)) {
      const answer = await ask(server, 'PATCH', path)
      assert.equal(answer.status, 405, path)
      contract.assertResponse(`${dialectOf(path)}MethodNotAllowed`, 'PATCH', answer)
      const allowed = answer.headers.allow?.split(', ').map((method) => `${method} ${path}`)
      assert.deepEqual(allowed?.sort(), routesOf(path).sort())
    }
  })

  it('404 for unknown routes', async () => {
    for (const path of ['/nothing', '/api/nothing', '/v1/nothing', '/api/responses', '/v1/messages/nothing']) {
      const answer = await ask(server, 'POST', path)
      assert.equal(answer.status, 404, path)
      contract.assertResponse(`${dialectOf(path)}RouteUnknown`, 'POST', answer)
    }
  })

  it('429 after the budget of a key is used up', async () => {
    const headers = {authorization: `Bearer ${limitedKey}`}
    const withoutReply = {'/api/pull': {model: 'acme/none'}, '/v1/messages/count_tokens': {messages: user}}
    await askDocumented(busy, 'POST', '/api/show', {headers, body: {model: 'tiny'}})
    for (const [path, body] of Object.entries({...valid, ...withoutReply}))
      assert.equal((await askDocumented(busy, 'POST', path, {headers, body})).status, 429, path)
  })

  it('503 while the queue is full', async () => {
    const headers = {authorization: 'Bearer sesame'}
    const abort = new AbortController()
    const body = JSON.stringify({prompt: 'Hi', raw: true, options: {num_predict: -1, temperature: 1}})
    const running = await fetch(`${busy.baseUrl}/api/generate`, {method: 'POST', headers, body, signal: abort.signal})
    for (const [path, body] of Object.entries(valid))
      assert.equal((await askDocumented(busy, 'POST', path, {headers, body})).status, 503, path)
    abort.abort()
    await running.text().catch(() => {})
  })

  it('downloads and deletes models', async () => {
    const headers = {authorization: 'Bearer sesame'}
    const pull = (body: object) => askDocumented(busy, 'POST', '/api/pull', {headers, body})
    const remove = async (body: object) => (await askDocumented(busy, 'DELETE', '/api/delete', {headers, body})).status
    assert.match((await pull({model: 'acme/llama'})).text, /"pulling model\.safetensors".*\n\{"status":"success"\}\n$/)
    assert.equal((await pull({name: 'acme/llama:latest', stream: false})).text, '{"status":"success"}')
    assert.equal((await pull({model: 'acme/none'})).status, 404)
    for (const body of [{}, {model: 'acme/llama', insecure: true}]) assert.equal((await pull(body)).status, 400)
    const abort = new AbortController()
    const body = JSON.stringify({model: 'acme/llama', prompt: 'Hi', raw: true, options: {num_predict: -1}})
    const running = await fetch(`${busy.baseUrl}/api/generate`, {method: 'POST', headers, body, signal: abort.signal})
    assert.equal(await remove({model: 'acme/llama'}), 409)
    abort.abort()
    await running.text().catch(() => {})
    await until(async () => (await remove({model: 'acme/llama'})) === 200, 'the model is idle and deleted')
    assert.equal(await remove({model: 'acme/llama'}), 404)
    assert.equal(await remove({}), 400)
  })

  it('adds and removes adapters', async () => {
    const headers = {authorization: 'Bearer admin'}
    const add = async (body: object) => (await askDocumented(busy, 'POST', '/api/adapters', {headers, body})).status
    const remove = async (part: string) =>
      (await askDocumented(busy, 'DELETE', '/api/adapters/{name}', {headers, part})).status
    const statuses = [
      await add({name: 'second', path: 'first'}),
      await add({name: 'second', path: 'first'}),
      await add({}),
      await add({name: 'second', path: '../tiny'}),
      await add({name: 'tiny', path: 'first'}),
    ]
    assert.deepEqual(statuses, [201, 200, 400, 403, 409])
    assert.deepEqual([await remove('second'), await remove('second'), await remove('fixed')], [200, 404, 409])
    const {text: listed} = await askDocumented(busy, 'GET', '/api/adapters', {headers})
    assert.match(listed, /"name":"fixed".*"name":"first"/)
  })

  it('500 if the model is unloaded and then damaged', async () => {
    const unload = {prompt: '', keep_alive: 0}
    assert.match((await askDocumented(server, 'POST', '/api/generate', {body: unload})).text, /"unload"/)
    assert.match((await askDocumented(server, 'GET', '/health')).text, /"loaded":false/)
    assert.equal((await askDocumented(server, 'GET', '/api/ps')).text, '{"models":[]}')
    const shard = join(model, 'model-00001-of-00002.safetensors')
    await rm(shard)
    await writeFile(shard, 'damaged')
    for (const [path, body] of Object.entries({...valid, '/v1/messages/count_tokens': {messages: user}}))
      assert.equal((await askDocumented(server, 'POST', path, {body})).status, 500, path)
  })

  it('every documented response has been tested', () => {
    const documented = operations.flatMap(({method, path, operation}) =>
      Object.keys(operation.responses).map((status) => `${method} ${path} ${status}`),
    )
    const rare = ['GET /metrics 500', 'HEAD /metrics 500', 'POST /api/pull 500', 'POST /api/pull 503']
    assert.deepEqual(
      documented.filter((answer) => !seen.has(answer)),
      rare,
    )
  })
})
