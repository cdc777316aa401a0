import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {isDeepStrictEqual} from 'node:util'
import {type FieldOutcome, type Route, requestFields, routes} from '../../src/serve/request-fields.js'
import {type RunningServer, startServer} from '../support/server.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {tinyModelFiles} from '../support/tiny-model.js'

/** Writes `|` if thinking is turned off. */
const template =
  '{% for m in messages %}{{ m.role }}{{ m.content or "" }}{% for call in m.tool_calls %}{{ call.function.name }}' +
  '{{ call.function.arguments.x }}{% endfor %}{% endfor %}{% if enable_thinking is defined and not enable_thinking %}|{% endif %}'

type Body = Record<string, unknown>

const user = {role: 'user', content: 'Hi'}
const bodies: Readonly<Record<Route, Body>> = {
  '/api/generate': {prompt: 'Hi', stream: false, options: {num_predict: 1}},
  '/api/chat': {messages: [user], stream: false, options: {num_predict: 1}},
  '/v1/chat/completions': {messages: [user], max_tokens: 1},
  '/v1/completions': {prompt: 'Hi', max_tokens: 1},
  '/v1/responses': {input: [user], max_output_tokens: 1},
  '/v1/messages': {messages: [user], max_tokens: 1},
}

/** Follows the rules of strict mode, too. */
const schema = {type: 'object', properties: {}, additionalProperties: false}

/** A value of each field that works, by its path; by its path and route, if routes differ. */
const examples: Readonly<Record<string, unknown>> = {
  model: 'tiny',
  stream: false,
  keep_alive: '10m',
  chat_template_kwargs: {enable_thinking: false},
  prompt: 'Hi',
  system: 'Be brief.',
  context: [72],
  raw: true,
  messages: [user],
  truncate: false,
  echo: true,
  suffix: '',
  add_generation_prompt: true,
  continue_final_message: false,
  'messages[].role': 'user',
  'messages[].content': null,
  'messages[].tool_calls': [{id: 'c', function: {name: 'f', arguments: '{"x": 1}'}}],
  'messages[].tool_calls /api/chat': [{function: {name: 'f', arguments: {x: 1}}}],
  'messages[].tool_call_id': 'c',
  'messages[].name': 'Ann',
  'messages[].thinking': 'They greet.',
  'messages[].tool_name': 'f',
  'messages[].reasoning_content': 'They greet.',
  'messages[].reasoning': 'They greet.',
  'messages[].content[].type': 'text',
  'messages[].content[].text': 'Hi',
  format: {type: 'integer'},
  response_format: {type: 'text'},
  'response_format.type': 'json_schema',
  'response_format.schema': schema,
  'response_format.json_schema': {name: 'empty', schema},
  'response_format.json_schema.schema': schema,
  'response_format.json_schema.strict': true,
  guided_json: {type: 'integer'},
  guided_regex: '[0-9]',
  guided_choice: ['a', 'b'],
  guided_grammar: 'start: "a"',
  json_schema: {type: 'integer'},
  grammar: 'root ::= "a"',
  structured_outputs: {regex: '[0-9]'},
  'structured_outputs.json': {type: 'integer'},
  'structured_outputs.regex': '[0-9]',
  'structured_outputs.choice': ['a', 'b'],
  'structured_outputs.grammar': 'start: "a"',
  'structured_outputs.json_object': true,
  think: false,
  reasoning_effort: 'medium',
  thinking_budget_tokens: 10,
  thinking_token_budget: 10,
  reasoning_budget: 10,
  tools: [{type: 'function', function: {name: 'f'}}],
  'tools[].type': 'function',
  'tools[].function': {name: 'f'},
  'tools[].function.name': 'f',
  'tools[].function.description': 'Runs',
  'tools[].function.parameters': schema,
  'tools[].function.strict': true,
  tool_choice: 'auto',
  'tool_choice.type': 'function',
  'tool_choice.function': {name: 'f'},
  'tool_choice.function.name': 'f',
  parallel_tool_calls: false,
  max_tokens: 1,
  max_completion_tokens: 1,
  stop: ['a', 'b', 'c', 'd', 'e'],
  temperature: 0.5,
  top_p: 0.5,
  top_k: 5,
  min_p: 0.1,
  seed: 1,
  n: 2,
  best_of: 2,
  presence_penalty: 1,
  frequency_penalty: 1,
  repetition_penalty: 1.1,
  repeat_penalty: 1.1,
  repeat_last_n: 8,
  logit_bias: {72: 1},
  logprobs: true,
  'logprobs /v1/completions': 2,
  top_logprobs: 2,
  stream_options: {include_usage: false},
  'stream_options.include_usage': true,
  'tools /v1/responses': [{type: 'function', name: 'f'}, {type: 'web_search'}],
  'tools[].name': 'f',
  'tools[].description': 'Runs',
  'tools[].parameters': schema,
  'tools[].strict': true,
  'tools[].defer_loading': false,
  'tool_choice.name': 'f',
  'tool_choice.mode': 'auto',
  'tool_choice.tools': [{type: 'function', name: 'f'}],
  'tool_choice.tools[].name': 'f',
  input: 'Hi',
  instructions: 'Be brief.',
  truncation: 'auto',
  reasoning: {effort: 'low'},
  'reasoning.effort': 'none',
  'reasoning.summary': 'auto',
  'reasoning.generate_summary': 'detailed',
  max_output_tokens: 1,
  include: ['reasoning.encrypted_content'],
  user: 'ann',
  metadata: {a: 'b'},
  safety_identifier: 'x',
  prompt_cache_key: 'x',
  text: {verbosity: 'low'},
  'text.format': {type: 'text'},
  'text.format.type': 'json_schema',
  'text.format.schema': schema,
  'text.format.strict': true,
  'text.format.name': 'empty',
  'text.format.description': 'Nothing',
  'input[].type': 'message',
  'input[].role': 'user',
  'input[].content': 'Hi',
  'input[].content[].type': 'input_text',
  'input[].content[].text': 'Hi',
  'input[].content[].refusal': 'No.',
  'input[].call_id': 'c',
  'input[].name': 'f',
  'input[].arguments': '{"x": 1}',
  'input[].output': '42',
  'input[].output[].type': 'input_text',
  'input[].output[].text': '42',
  'input[].summary': [{type: 'summary_text', text: 'They greet.'}],
  'input[].summary[].text': 'They greet.',
  'system /v1/messages': [{type: 'text', text: 'Be brief.'}],
  'system[].type': 'text',
  'system[].text': 'Be brief.',
  stop_sequences: ['a', 'b'],
  thinking: {type: 'enabled', budget_tokens: 10},
  'thinking.type': 'adaptive',
  'thinking.budget_tokens': 10,
  'thinking.display': 'omitted',
  output_config: {effort: 'low'},
  'output_config.effort': 'high',
  'output_config.format': {type: 'json_schema', schema},
  'output_config.format.type': 'json_schema',
  'output_config.format.schema': schema,
  context_management: {edits: []},
  'context_management.edits': [{type: 'clear_thinking_20251015', keep: 'all'}],
  'tools /v1/messages': [{name: 'f', input_schema: schema}],
  'tools[].type /v1/messages': 'custom',
  'tools[].input_schema': schema,
  'tool_choice /v1/messages': {type: 'auto'},
  'tool_choice.type /v1/messages': 'tool',
  'tool_choice.disable_parallel_tool_use': true,
  'messages[].content /v1/messages': 'Hi',
  'messages[].content[].thinking': 'They greet.',
  'messages[].content[].id': 'c',
  'messages[].content[].name': 'f',
  'messages[].content[].input': {x: 1},
  'messages[].content[].tool_use_id': 'c',
  'messages[].content[].content': '42',
  'messages[].content[].is_error': false,
  'messages[].content[].content[].type': 'text',
  'messages[].content[].content[].text': '42',
  'messages[].content[].content[].tool_name': 'f',
  options: {num_predict: 1},
  'options.temperature': 0.5,
  'options.top_k': 5,
  'options.top_p': 0.5,
  'options.min_p': 0.1,
  'options.seed': 1,
  'options.stop': ['a', 'b'],
  'options.repeat_penalty': 1.1,
  'options.presence_penalty': 1,
  'options.frequency_penalty': 1,
  'options.repeat_last_n': 8,
  'options.num_predict': 1,
  'options.num_ctx': 512,
}

/** Fields of which a request has only one. */
const isExclusive = (path: string) =>
  /^((output_config\.|text\.)?format(\..*)?|guided_(json|regex|choice|grammar)|json_schema|grammar|structured_outputs(\..*)?)$/.test(
    path,
  )

/** Valid values of the objects around fields; default: an empty object, or a list of parts of a message. */
const surroundings: Readonly<Record<string, Body | Body[]>> = {
  tools: [{type: 'function', function: {name: 'f'}}],
  'tools /v1/responses': [{type: 'function', name: 'f'}],
  'tools /v1/messages': [{name: 'f', input_schema: schema}],
  tool_choice: {type: 'function', function: {name: 'f'}},
  'tool_choice /v1/responses': {type: 'function', name: 'f'},
  'tool_choice /v1/messages': {type: 'tool', name: 'f'},
  'content /v1/responses': [{type: 'input_text', text: 'Hi'}],
  edits: [{type: 'clear_thinking_20251015'}],
  thinking: {type: 'enabled'},
  'format /v1/responses': {type: 'json_schema', schema},
  'format /v1/messages': {type: 'json_schema', schema},
}

/** The body of a route with another field. */
const withField = (route: Route, body: Body, path: string, value: unknown): Body =>
  withFieldIn(route, {...body, ...contexts[`${path} ${route}`]}, path, value)

function withFieldIn(route: Route, body: Body, path: string, value: unknown): Body {
  const [first = '', ...rest] = path.split('.')
  if (rest.length === 0) return {...body, [path]: value}
  const inner = rest.join('.')
  const name = first.replace('[]', '')
  const around = surroundings[`${name} ${route}`] ?? surroundings[name]
  if (!first.endsWith('[]'))
    return {...body, [first]: withFieldIn(route, (body[first] ?? around ?? {}) as Body, inner, value)}
  const [item, ...others] = [body[name], around].find(Array.isArray) ?? [{type: 'text', text: 'Hi'}]
  return {...body, [name]: [withFieldIn(route, item as Body, inner, value), ...others]}
}

const call = {type: 'function_call', call_id: 'c', name: 'f', arguments: '{}'}
const output = {type: 'function_call_output', call_id: 'c', output: [{type: 'input_text', text: 'Hi'}]}
const thought = {type: 'reasoning', summary: [{type: 'summary_text', text: 'They greet.'}]}
const refusal = {role: 'assistant', content: [{type: 'refusal', refusal: 'No.'}]}
const allowed = {type: 'allowed_tools', mode: 'auto', tools: [{type: 'function', name: 'f'}]}
const use = {role: 'assistant', content: [{type: 'tool_use', id: 'c', name: 'f', input: {}}]}
const result = {role: 'user', content: [{type: 'tool_result', tool_use_id: 'c', content: [{type: 'text', text: 'Hi'}]}]}
const reference = {type: 'tool_reference', tool_name: 'f'}
const search = {role: 'user', content: [{type: 'tool_result', tool_use_id: 'c', content: [reference]}]}
const thinking = {role: 'assistant', content: [{type: 'thinking', thinking: 'They greet.', signature: ''}]}

const fieldsIn = (route: Route, paths: string, context: Body) =>
  Object.fromEntries(paths.split(' ').map((path) => [`${path} ${route}`, context]))

/** What a field needs around it, if it is not a field of every message or item. */
const contexts: Readonly<Record<string, Body>> = {
  ...fieldsIn('/v1/responses', 'input[].call_id input[].name input[].arguments', {input: [call, user]}),
  ...fieldsIn('/v1/responses', 'input[].output input[].output[].type input[].output[].text', {input: [output, user]}),
  ...fieldsIn('/v1/responses', 'input[].output[].image_url', {input: [output, user]}),
  ...fieldsIn('/v1/responses', 'input[].summary input[].summary[].text input[].summary[].type', {
    input: [thought, user],
  }),
  ...fieldsIn('/v1/responses', 'input[].content[].refusal', {input: [refusal, user]}),
  ...fieldsIn('/v1/responses', 'tool_choice.mode tool_choice.tools tool_choice.tools[].name tool_choice.tools[].type', {
    tools: [{type: 'function', name: 'f'}],
    tool_choice: allowed,
  }),
  ...fieldsIn('/v1/responses', 'tool_choice.type tool_choice.name', {tools: [{type: 'function', name: 'f'}]}),
  ...fieldsIn('/v1/messages', 'tool_choice.type tool_choice.name', {tools: [{name: 'f', input_schema: schema}]}),
  ...fieldsIn('/v1/messages', 'messages[].content[].id messages[].content[].name messages[].content[].input', {
    messages: [use, user],
  }),
  ...fieldsIn('/v1/messages', 'messages[].content[].thinking', {messages: [thinking, user]}),
  ...fieldsIn('/v1/messages', 'messages[].content[].tool_use_id messages[].content[].content', {
    messages: [result, user],
  }),
  ...fieldsIn('/v1/messages', 'messages[].content[].is_error messages[].content[].content[].type', {
    messages: [result, user],
  }),
  ...fieldsIn('/v1/messages', 'messages[].content[].content[].text messages[].content[].content[].source', {
    messages: [result, user],
  }),
  ...fieldsIn('/v1/messages', 'messages[].content[].content[].tool_name', {
    tools: [{name: 'f', input_schema: schema}],
    messages: [search, user],
  }),
  ...fieldsIn('/v1/messages', 'messages[].content[].content[].cache_control', {messages: [result, user]}),
  ...fieldsIn('/v1/messages', 'system[].type system[].text system[].cache_control system[].citations', {
    system: [{type: 'text', text: 'Be brief.'}],
  }),
}

/** A value of another type, or one that is not among those of a field. */
function wrongValue(outcome: FieldOutcome, example: unknown): unknown {
  if (outcome.kind === 'ignored') return outcome.type === undefined ? undefined : {}
  if (outcome.kind === 'works') return typeof example === 'object' && !Array.isArray(example) ? 5 : {}
  return ['x', true].find((value) => !outcome.values.some((allowed) => isDeepStrictEqual(allowed, value)))
}

describe('the fields of requests', () => {
  const model = suiteFolder()
  let server: RunningServer
  before(async () => {
    await writeFiles(model, {...tinyModelFiles(), 'chat_template.jinja': template})
    server = await startServer(['--model', model, '--model-name', 'tiny'])
  })
  after(() => server?.stop())

  async function post(route: Route, body: Body): Promise<{status: number; text: string}> {
    const response = await fetch(server.baseUrl + route, {method: 'POST', body: JSON.stringify(body)})
    return {status: response.status, text: await response.text()}
  }

  for (const route of routes) {
    const rows = requestFields.filter((row) => row.routes.includes(route))
    const exampleOf = (path: string) => examples[`${path} ${route}`] ?? examples[path]

    it(`${route} accepts all fields that work or have no effect, and the values of the others`, async () => {
      for (const round of [0, 1]) {
        let body = bodies[route]
        for (const {path, outcome} of rows) {
          const isWorking = outcome.kind === 'works'
          if (isWorking) assert.notEqual(exampleOf(path), undefined, `There is no example for ${path}.`)
          // A suffix needs a model that can insert text, and no other field of the prompt.
          if ((path === 'raw' || path === 'suffix') && isWorking) continue
          if ((isWorking && isExclusive(path)) || `${path} ${route}` in contexts) continue
          const probe = isWorking
            ? exampleOf(path)
            : outcome.kind === 'ignored'
              ? {boolean: true, integer: 1}[outcome.type ?? 'integer']
              : outcome.values[round]
          if (probe !== undefined) body = withField(route, body, path, probe)
        }
        const {status, text} = await post(route, body)
        assert.equal(status, 200, `${JSON.stringify(body)}: ${text}`)
      }
    })

    it(`${route} accepts each field with a format of the reply, or of certain items`, async () => {
      const isAlone = (path: string) => isExclusive(path) || `${path} ${route}` in contexts
      for (const {path} of rows.filter(({path, outcome}) => outcome.kind === 'works' && isAlone(path))) {
        const {status, text} = await post(route, withField(route, bodies[route], path, exampleOf(path)))
        assert.equal(status, 200, `${path}: ${text}`)
      }
    })

    it(`${route} rejects other values with the name of the field`, async () => {
      const accepted: string[] = []
      for (const {path, outcome} of rows) {
        const value = wrongValue(outcome, exampleOf(path))
        if (value === undefined) continue
        const {status, text} = await post(route, withField(route, bodies[route], path, value))
        const {error} = JSON.parse(text) as {error?: string | {message: string; param?: string} | null}
        const named = typeof error === 'object' ? (error?.param ?? error?.message ?? '') : (error ?? '')
        const name = path.split('.').at(-1)?.replace('[]', '') as string
        if (status !== 400 || !named.includes(name)) accepted.push(`${path}: ${status} ${text}`)
      }
      assert.deepEqual(accepted, [])
    })
  }

  it('include a suffix only if the model can insert text', async () => {
    for (const route of ['/api/generate', '/v1/completions'] as const) {
      const {status, text} = await post(route, {...bodies[route], suffix: 'end'})
      assert.equal(status, 400)
      assert.match(text, /tiny\W+ does not support insert/)
    }
  })

  describe('that turn off thinking', () => {
    const promptTokens = async (route: Route, changes: Body) => {
      const {status, text} = await post(route, {...bodies[route], ...changes})
      assert.equal(status, 200, text)
      const {prompt_eval_count: count, usage} = JSON.parse(text)
      return (count ?? usage.prompt_tokens) as number
    }
    const off = {chat_template_kwargs: {enable_thinking: false}}
    const all: readonly (readonly [Route, Body])[] = [
      ['/api/generate', {think: false}],
      ['/api/generate', off],
      ['/api/chat', {think: false}],
      ['/api/chat', off],
      ['/v1/chat/completions', {think: false}],
      ['/v1/chat/completions', {reasoning_effort: 'none'}],
      ['/v1/chat/completions', off],
    ]
    for (const [route, changes] of all)
      it(`${route} with ${JSON.stringify(changes)}`, async () =>
        assert.equal(await promptTokens(route, changes), (await promptTokens(route, {})) + 1))

    it('and no others', async () => {
      const plain = await promptTokens('/v1/chat/completions', {})
      assert.equal(await promptTokens('/v1/chat/completions', {reasoning_effort: 'high'}), plain)
    })
  })

  it('include the calls of tools in earlier messages, whose content may be null', async () => {
    const count = async (messages: Body[]) => {
      const {text} = await post('/v1/chat/completions', {messages, max_tokens: 1})
      return JSON.parse(text).usage.prompt_tokens as number
    }
    const call = {
      role: 'assistant',
      content: null,
      tool_calls: [{id: 'c', function: {name: 'add', arguments: '{"x":21}'}}],
    }
    const result = {role: 'tool', tool_call_id: 'c', content: '42'}
    // The tokens are bytes.
    assert.equal((await count([user, call, result])) - (await count([user])), 'assistantadd21tool42'.length)
  })
})
