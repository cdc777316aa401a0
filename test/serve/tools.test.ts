import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {after, before, describe, it} from 'node:test'
import {Ollama} from 'ollama'
import OpenAI from 'openai'
import {projectFile} from '../support/project.js'
import {type RunningServer, startServer} from '../support/server.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

const parameters = {
  type: 'object',
  properties: {city: {type: 'string', enum: ['Oslo', 'Rome']}, days: {type: 'integer', minimum: 1, maximum: 9}},
  required: ['city'],
}
const weather = {
  type: 'function' as const,
  function: {name: 'get_weather', description: 'Returns the weather', parameters},
}
const messages = [{role: 'user' as const, content: 'Hi'}]
const schema = {
  type: 'object',
  properties: {mood: {enum: ['good', 'bad']}},
  required: ['mood'],
  additionalProperties: false,
}

type Args = {city: string; days?: number}
const isValid = ({city, days = 1}: Args) => ['Oslo', 'Rome'].includes(city) && days >= 1 && days <= 9

/** A model with the chat template of Qwen 3, which thinks by default. */
describe('svc serve with tools and thinking', () => {
  const folder = suiteFolder()
  let server: RunningServer
  let openai: OpenAI
  let ollama: Ollama
  before(async () => {
    await writeTinyModel(folder, {contextLength: 4096})
    const template = await readFile(projectFile('test/fixtures/jinja/templates/qwen3.jinja'), 'utf8')
    await writeFiles(folder, {'generation_config.json': '{"eos_token_id": 256}', 'chat_template.jinja': template})
    server = await startServer(['--model', folder, '--model-name', 'tiny'])
    openai = new OpenAI({baseURL: `${server.baseUrl}/v1`, apiKey: 'none', maxRetries: 0})
    ollama = new Ollama({host: server.baseUrl})
  })
  after(() => server?.stop())

  const required = {
    model: 'tiny',
    messages,
    tools: [weather],
    tool_choice: 'required' as const,
    parallel_tool_calls: false,
    reasoning_effort: 'none' as const,
    max_tokens: 200,
  }

  it('lists what the model can do', async () => {
    const {capabilities} = await ollama.show({model: 'tiny'})
    assert.deepEqual(capabilities, ['completion', 'tools', 'thinking'])
  })

  it('returns a call with valid arguments, in parts that join to the same call', async () => {
    for (const seed of [1, 2, 3]) {
      const {choices, usage} = await openai.chat.completions.create({...required, seed})
      const {message, finish_reason: reason} = choices[0] ?? assert.fail()
      const call = message.tool_calls?.[0]
      assert.ok(call?.type === 'function')
      assert.deepEqual([message.content, reason, call.function.name], [null, 'tool_calls', 'get_weather'])
      assert.ok(isValid(JSON.parse(call.function.arguments)))
      assert.equal(usage?.completion_tokens_details, undefined)
      const stream = openai.chat.completions.stream({...required, seed})
      const streamed = (await stream.finalChatCompletion()).choices[0]
      assert.ok(streamed?.message.tool_calls?.[0]?.type === 'function')
      assert.equal(streamed.finish_reason, 'tool_calls')
      assert.equal(streamed.message.tool_calls[0].function.arguments, call.function.arguments)
      const chat = {model: 'tiny', messages, tools: [weather], tool_choice: 'required', parallel_tool_calls: false}
      const body = {...chat, think: false, options: {seed, temperature: 0.7, top_k: 0, top_p: 1}}
      const own = await ollama.chat({...body, stream: false})
      assert.ok(isValid(own.message.tool_calls?.[0]?.function.arguments as unknown as Args))
      const parts = []
      for await (const part of await ollama.chat({...body, stream: true})) parts.push(part)
      const calls = parts.flatMap(({message: {tool_calls: found = []}}) => found)
      assert.deepEqual(
        calls.map(({function: called}) => called),
        own.message.tool_calls?.map(({function: called}) => called),
      )
    }
  })

  it('answers after the result of a tool', async () => {
    const {choices} = await openai.chat.completions.create(required)
    const {message} = choices[0] ?? assert.fail()
    const id = message.tool_calls?.[0]?.id ?? assert.fail()
    const result = {role: 'tool' as const, tool_call_id: id, content: 'rain'}
    const body = {...required, messages: [...messages, message, result], tool_choice: 'auto' as const, max_tokens: 3}
    const answer = await openai.chat.completions.create(body)
    assert.equal(answer.choices.length, 1)
  })

  describe('keeps a format', () => {
    const format = {response_format: {type: 'json_schema' as const, json_schema: {name: 'mood', schema, strict: true}}}
    const isMood = (content: string | null | undefined) =>
      ['good', 'bad'].includes((JSON.parse(content ?? '') as {mood: string}).mood)

    it('without thinking', async () => {
      for (const seed of [1, 2, 3]) {
        const {message} = await ollama.chat({model: 'tiny', messages, format: schema, think: false, options: {seed}})
        assert.ok(isMood(message.content))
        assert.equal(message.thinking, undefined)
      }
    })

    it('after thinking, whose tokens are limited', async () => {
      let thought = 0
      for (const seed of Array.from({length: 8}, (_, i) => i)) {
        const body = {
          model: 'tiny',
          messages,
          reasoning_effort: 'high' as const,
          max_tokens: 300,
          temperature: 0.7,
          seed,
        }
        const limited = {...body, ...format, thinking_budget_tokens: 20}
        const {choices, usage} = await openai.chat.completions.create(limited)
        const {message} = choices[0] ?? assert.fail()
        assert.ok(isMood(message.content))
        const {reasoning_content: thinking} = message as {reasoning_content?: string}
        const tokens = usage?.completion_tokens_details?.reasoning_tokens ?? 0
        assert.equal(thinking !== undefined, tokens > 0)
        assert.ok(tokens <= '\n\n<think>'.length + 20 + '\n</think>'.length, `${tokens}`)
        if (thinking !== undefined) thought++
        assert.doesNotMatch(`${message.content}${thinking}`, /think>/)
      }
      assert.ok(thought > 0)
    })

    it('or calls a tool', async () => {
      let calls = 0
      for (const seed of Array.from({length: 8}, (_, i) => i)) {
        // The bias prefers the beginning of the JSON text to that of a call.
        const bias = seed % 2 === 0 ? {logit_bias: {123: 60}} : {}
        const body = {...required, ...format, ...bias, tool_choice: 'auto' as const, seed}
        const {choices} = await openai.chat.completions.create(body)
        const {message} = choices[0] ?? assert.fail()
        const [call] = message.tool_calls ?? []
        if (call === undefined) assert.ok(isMood(message.content))
        else assert.ok(call.type === 'function' && isValid(JSON.parse(call.function.arguments)))
        calls += call === undefined ? 0 : 1
      }
      assert.ok(calls > 0 && calls < 8, `${calls}`)
    })
  })

  it('separates thinking, calls and values of a format in one request, streamed or not', async () => {
    const seen = new Set<string>()
    for (const seed of Array.from({length: 6}, (_, i) => i)) {
      const body = {
        ...{model: 'tiny', messages, tools: [weather], parallel_tool_calls: false, format: schema, think: true},
        ...{thinking_budget_tokens: 12, options: {seed, num_predict: 300, temperature: 0.7, top_k: 0, top_p: 1}},
      }
      const {message, done_reason: reason} = await ollama.chat({...body, stream: false})
      assert.equal(reason, 'stop')
      const [call] = message.tool_calls ?? []
      assert.doesNotMatch(`${message.content}${message.thinking}`, /think>|tool_call>/)
      if (call === undefined) assert.deepEqual(Object.keys(JSON.parse(message.content)), ['mood'])
      else assert.deepEqual([message.content, isValid(call.function.arguments as unknown as Args)], ['', true])
      seen.add(call === undefined ? 'value' : 'call')
      if (message.thinking !== undefined) seen.add('thinking')
      const joined = {content: '', thinking: '', calls: [] as unknown[]}
      for await (const {message: part} of await ollama.chat({...body, stream: true})) {
        joined.content += part.content
        joined.thinking += part.thinking ?? ''
        joined.calls.push(...(part.tool_calls ?? []).map(({function: called}) => called))
      }
      assert.deepEqual(joined, {
        content: message.content,
        thinking: message.thinking ?? '',
        calls: call === undefined ? [] : [call.function],
      })
    }
    assert.deepEqual([...seen].sort(), ['call', 'thinking', 'value'])
  })

  it('refuses a tool whose arguments it cannot enforce, by its field', async () => {
    const tools = [
      {
        ...weather,
        function: {
          ...weather.function,
          parameters: {type: 'object', not: {minProperties: 1}, dependentSchemas: {a: {}}, unevaluatedItems: 5},
        },
      },
    ]
    await assert.rejects(openai.chat.completions.create({...required, tools}), {
      status: 400,
      param: 'tools[0].function.parameters',
    })
  })
})
