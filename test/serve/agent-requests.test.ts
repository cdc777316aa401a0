import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import Anthropic, {BadRequestError} from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import {writeAgentModel} from '../support/agent-model.js'
import {type RunningServer, startServer} from '../support/server.js'
import {suiteFolder} from '../support/temporary.js'

type Json = Record<string, unknown>

const user = (content: unknown) => ({type: 'message', role: 'user', content})
const parameters = {type: 'object', properties: {location: {type: 'string', maxLength: 9}}, required: ['location']}
const weather = {type: 'function', name: 'get_weather', description: 'Get the current weather', parameters}

/** The fields that the Open Responses specification requires in every response. */
const required =
  'id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools ' +
  'tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature ' +
  'reasoning user usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier ' +
  'prompt_cache_key'

describe('svc serve for requests of agents', () => {
  const folder = suiteFolder()
  let server: RunningServer
  before(async () => {
    await writeAgentModel(folder)
    server = await startServer(['--model', folder, '--model-name', 'agent', '--temperature', '0'], {
      env: {SVC_INFERENCE_API_KEY: 'sesame'},
    })
  })
  after(() => server?.stop())

  async function post(path: string, body: object, headers: Record<string, string> = {'x-api-key': 'sesame'}) {
    const response = await fetch(server.baseUrl + path, {method: 'POST', headers, body: JSON.stringify(body)})
    return {status: response.status, headers: response.headers, text: await response.text()}
  }

  async function get(path: string, headers: Record<string, string> = {}): Promise<Json> {
    const response = await fetch(server.baseUrl + path, {headers: {authorization: 'Bearer sesame', ...headers}})
    assert.equal(response.status, 200)
    return (await response.json()) as Json
  }

  /** The last response of a stream, and all its events. */
  async function streamed(body: object): Promise<{response: Json; events: Json[]}> {
    const {text} = await post('/v1/responses', {...body, stream: true})
    const frames = text.trimEnd().split('\n\n')
    assert.equal(frames.pop(), 'data: [DONE]')
    const events = frames.map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as Json)
    return {response: events.at(-1)?.response as Json, events}
  }

  describe('of the Open Responses suite', () => {
    const completed = (response: Json, ...types: string[]) => {
      assert.deepEqual(
        required.split(' ').filter((name) => !(name in response)),
        [],
      )
      assert.equal(response.status, 'completed')
      assert.deepEqual(
        (response.output as Json[]).map(({type}) => type),
        types,
      )
    }
    const whole = async (body: object) =>
      JSON.parse((await post('/v1/responses', {model: 'agent', ...body})).text) as Json

    it('answers a text', async () => completed(await whole({input: [user('Say hello.')]}), 'message'))

    it('streams a text', async () => completed((await streamed({input: [user('Count to 5.')]})).response, 'message'))

    it('reads a system message', async () =>
      completed(
        await whole({input: [{type: 'message', role: 'system', content: 'Be a pirate.'}, user('Hi')]}),
        'message',
      ))

    it('calls a function', async () =>
      completed(await whole({input: [user('How is the weather?')], tools: [weather]}), 'function_call'))

    it('streams the call of a function', async () => {
      const {response, events} = await streamed({input: [user('How is the weather?')], tools: [weather]})
      completed(response, 'function_call')
      const types = events.map(({type}) => type)
      for (const type of ['output_item.added', 'function_call_arguments.delta', 'function_call_arguments.done'])
        assert.ok(types.includes(`response.${type}`), type)
    })

    it('refuses an image by name', async () => {
      const image = {type: 'input_image', image_url: 'data:image/png;base64,aGk='}
      const {status, text} = await post('/v1/responses', {input: [user([{type: 'input_text', text: 'See?'}, image])]})
      assert.equal(status, 400)
      assert.deepEqual(JSON.parse(text).error, {
        message: 'this server does not support images (omit input[0].content[1].image_url)',
        type: 'invalid_request_error',
        param: 'input[0].content[1].image_url',
        code: 'unsupported_value',
      })
    })

    it('reads several turns', async () =>
      completed(
        await whole({
          input: [user('I am Al.'), {type: 'message', role: 'assistant', content: 'Hi!'}, user('Who am I?')],
        }),
        'message',
      ))
  })

  describe('of Codex', () => {
    const request = {
      model: 'agent',
      instructions: 'You are a coding agent.',
      input: [
        {type: 'message', role: 'developer', content: [{type: 'input_text', text: '<permissions>'}]},
        {type: 'message', role: 'user', content: [{type: 'input_text', text: '<environment_context>'}]},
        {type: 'message', role: 'user', content: [{type: 'input_text', text: 'Fix it.'}]},
      ],
      tools: [
        weather,
        {type: 'custom', name: 'apply_patch', format: {type: 'grammar', syntax: 'lark', definition: 'x'}},
        {type: 'web_search', external_web_access: false},
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: {effort: 'medium', summary: 'auto'},
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: '019a-0c',
      text: {verbosity: 'low'},
      client_metadata: {'x-codex-installation-id': 'x'},
    }

    it('are answered; the tools that are no functions are named in a header', async () => {
      const {status, headers, text} = await post('/v1/responses', request)
      assert.equal(status, 200, text)
      assert.equal(headers.get('x-svc-skipped-tools'), 'custom, web_search')
      assert.match(text, /^event: response\.created\ndata: /)
      assert.match(text, /"type":"response\.completed"/)
    })

    it('are answered if they are empty probes', async () => {
      for (const input of ['', []]) {
        const {response} = await streamed({model: 'agent', input, max_output_tokens: 1})
        assert.equal(response.status, 'incomplete')
        assert.deepEqual(response.incomplete_details, {reason: 'max_output_tokens'})
      }
    })

    it('get a list of models that it can read', async () => {
      const {data, models} = await get('/v1/models?client_version=0.150.0')
      assert.deepEqual(models, [])
      assert.equal((data as Json[])[0]?.id, 'agent')
      assert.equal('models' in (await get('/v1/models')), false)
    })
  })

  describe('of Claude Code', () => {
    const block = (text: string) => ({type: 'text', text, cache_control: {type: 'ephemeral'}})
    const tool = {
      name: 'get_weather',
      description: 'Returns the weather',
      input_schema: parameters,
      eager_input_streaming: true,
    }
    const request = {
      model: 'agent',
      system: [
        {type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.90; cc_entrypoint=cli; cch=1a2b3;'},
        block('You are Claude Code.'),
      ],
      messages: [{role: 'user', content: [{type: 'text', text: '<system-reminder>'}, block('How is the weather?')]}],
      tools: [tool],
      metadata: {user_id: 'user_1_session_2'},
      max_tokens: 32000,
      thinking: {type: 'adaptive'},
      output_config: {effort: 'medium'},
      context_management: {edits: [{type: 'clear_thinking_20251015', keep: 'all'}]},
      stream: true,
    }
    const headers = {
      authorization: 'Bearer sesame',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27',
    }

    it('are answered with the events of a message', async () => {
      const {status, text} = await post('/v1/messages?beta=true', request, headers)
      assert.equal(status, 200, text)
      const names = text.match(/(?<=^event: ).+$/gm)
      assert.equal(names?.[0], 'message_start')
      assert.deepEqual(names?.slice(-2), ['message_delta', 'message_stop'])
      assert.match(text, /"stop_reason":"tool_use"/)
    })

    it('evaluate as many tokens as count_tokens counts', async () => {
      const {stream: _, ...whole} = request
      for (const body of [
        whole,
        {...whole, tools: undefined, system: 'Be brief.', messages: [{role: 'user', content: 'Hi'}]},
      ]) {
        const {usage} = JSON.parse((await post('/v1/messages', body)).text)
        const evaluated = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens
        const {input_tokens: counted} = JSON.parse((await post('/v1/messages/count_tokens', body)).text)
        assert.equal(counted, evaluated)
      }
    })

    it('contain a tool once, whether it is listed or found by a search', async () => {
      const search = {name: 'search', input_schema: {type: 'object'}}
      const found = (content: object[]) => [
        {role: 'user', content: 'Hi'},
        {role: 'assistant', content: [{type: 'tool_use', id: 'c', name: 'search', input: {}}]},
        {role: 'user', content: [{type: 'tool_result', tool_use_id: 'c', content}]},
      ]
      const {name, description} = tool
      const definition = JSON.stringify({name, description, parameters})
      const countOf = async (body: object) =>
        JSON.parse((await post('/v1/messages/count_tokens', {model: 'agent', ...body})).text).input_tokens as number
      const deferred = {
        tools: [search, {...tool, defer_loading: true}],
        messages: found([{type: 'tool_reference', tool_name: name}]),
      }
      const written = {tools: [search], messages: found([{type: 'text', text: definition}])}
      assert.equal(await countOf(deferred), await countOf(written))
      const choice = {tool_choice: {type: 'tool', name}}
      const {content} = JSON.parse((await post('/v1/messages', {...deferred, ...choice, max_tokens: 200})).text)
      assert.deepEqual([content[0].type, content[0].name], ['tool_use', name])
    })

    it('reach the server when it is probed', async () => {
      assert.equal((await fetch(server.baseUrl, {method: 'HEAD'})).status, 200)
      const {data, has_more: more} = await get('/v1/models?limit=1000', headers)
      assert.equal(more, false)
      const [{id, type, display_name: name}] = data as [Json]
      assert.deepEqual([id, type, name], ['agent', 'model', 'agent'])
    })

    it('get errors in the format of Anthropic', async () => {
      const errorOf = async (body: object, headers?: Record<string, string>) => {
        const {status, text} = await post('/v1/messages', body, headers)
        const {type, error, request_id: id} = JSON.parse(text)
        assert.equal(type, 'error')
        assert.equal(typeof id, 'string')
        return [status, error.type, error.message]
      }
      assert.deepEqual((await errorOf(request, {})).slice(0, 2), [401, 'authentication_error'])
      assert.deepEqual((await errorOf({...request, model: 'other'})).slice(0, 2), [404, 'not_found_error'])
      assert.deepEqual(await errorOf({...request, messages: []}), [
        400,
        'invalid_request_error',
        'messages must have at least 1 item',
      ])
      const long = [{role: 'user', content: 'x '.repeat(3000)}]
      const [status, , message] = await errorOf({...request, messages: long})
      assert.equal(status, 400)
      assert.match(message, /^prompt is too long: /)
    })
  })

  it('answers the clients of both vendors', async () => {
    const anthropic = new Anthropic({baseURL: server.baseUrl, apiKey: 'sesame', maxRetries: 0})
    const bearer = new Anthropic({baseURL: server.baseUrl, apiKey: null, authToken: 'sesame', maxRetries: 0})
    const openai = new OpenAI({baseURL: `${server.baseUrl}/v1`, apiKey: 'sesame', maxRetries: 0})
    const body = {model: 'agent', messages: [{role: 'user' as const, content: 'Hi'}], max_tokens: 20}
    const tokens: number[] = []
    for (const client of [anthropic, bearer]) {
      const {usage} = await client.messages.create(body)
      const {input_tokens: counted} = await client.messages.countTokens({model: 'agent', messages: body.messages})
      tokens.push(counted - usage.input_tokens - (usage.cache_read_input_tokens ?? 0))
      assert.equal((await client.models.list()).data[0]?.id, 'agent')
      assert.equal((await client.models.retrieve('agent')).display_name, 'agent')
    }
    assert.deepEqual(tokens, [0, 0])
    await assert.rejects(anthropic.messages.create({...body, max_tokens: -1}), (error) => {
      assert.ok(error instanceof BadRequestError)
      assert.match(error.message, /max_tokens must be at least 0/)
      return true
    })
    const stop = await anthropic.messages.create({...body, stop_sequences: ['Rain']})
    assert.deepEqual([stop.stop_reason, stop.stop_sequence], ['stop_sequence', 'Rain'])
    const parsed = await openai.responses.create({
      model: 'agent',
      input: 'Hi',
      text: {format: {type: 'json_schema', name: 'answer', schema: {type: 'boolean'}}},
    })
    assert.equal(typeof JSON.parse(parsed.output_text), 'boolean')
  })
})
