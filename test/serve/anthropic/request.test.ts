import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {readMessagesRequest} from '../../../src/serve/anthropic/request.js'
import type {ChatMessage} from '../../../src/text/index.js'
import {defaults, refusal} from '../samples.js'

const user = {role: 'user', content: 'Hi'} as const
const text = (value: string, fields = {}) => ({type: 'text', text: value, ...fields})
const reference = {type: 'tool_reference', tool_name: 'look'}
const cached = {cache_control: {type: 'ephemeral', ttl: '1h'}}

const read = (fields: object) => readMessagesRequest({messages: [user], ...fields}, defaults)
const messagesOf = (fields: object): readonly ChatMessage[] => {
  const {prompt} = read(fields).request
  return prompt.kind === 'chat' ? prompt.messages : []
}

describe('the conversation of a message', () => {
  const accepted: [what: string, fields: object, expected: object[]][] = [
    ['a text', {}, [user]],
    ['a system prompt', {system: 'Be brief.'}, [{role: 'system', content: 'Be brief.'}, user]],
    [
      'blocks of a system prompt, without the attribution of Claude Code',
      {
        system: [
          text('x-anthropic-billing-header: cc_version=2.1.0;'),
          text('Be brief.', cached),
          text('Now.', cached),
        ],
      },
      [{role: 'system', content: 'Be brief.\n\nNow.'}, user],
    ],
    [
      'a system message in the conversation',
      {messages: [user, {role: 'system', content: [text('Now.')]}, user]},
      [user, {role: 'system', content: 'Now.'}, user],
    ],
    [
      'thinking, a call and its result',
      {
        messages: [
          {role: 'user', content: [text('How is'), text('the weather?', cached)]},
          {
            role: 'assistant',
            content: [
              {type: 'thinking', thinking: 'Look.', signature: 'x'},
              {type: 'redacted_thinking', data: 'x'},
              text('I look.'),
              {type: 'tool_use', id: 'c', name: 'look', input: {x: 1}, caller: {type: 'direct'}, ...cached},
            ],
          },
          {
            role: 'user',
            content: [
              {type: 'tool_result', tool_use_id: 'c', content: [text('rain'), text('wind')], is_error: false},
              text('And now?'),
            ],
          },
        ],
      },
      [
        {role: 'user', content: 'How is\n\nthe weather?'},
        {
          role: 'assistant',
          content: 'I look.',
          reasoning_content: 'Look.',
          tool_calls: [{id: 'c', type: 'function', function: {name: 'look', arguments: {x: 1}}}],
        },
        {role: 'tool', content: 'rain\n\nwind', name: 'look', tool_call_id: 'c'},
        {role: 'user', content: 'And now?'},
      ],
    ],
    [
      'a call without a text, and a result without content',
      {
        messages: [
          {role: 'assistant', content: [{type: 'tool_use', id: 'c', name: 'look', input: {}}]},
          {role: 'user', content: [{type: 'tool_result', tool_use_id: 'c'}]},
        ],
      },
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{id: 'c', type: 'function', function: {name: 'look', arguments: {}}}],
        },
        {role: 'tool', content: '', name: 'look', tool_call_id: 'c'},
      ],
    ],
  ]
  for (const [what, fields, expected] of accepted)
    it(`is read: ${what}`, () => assert.deepEqual(messagesOf(fields), expected))

  const image = {type: 'image', source: {type: 'base64', media_type: 'image/png', data: 'aGk='}}
  const refused: [fields: object, code: string, message: string, param: string][] = [
    [
      {messages: [{role: 'user', content: [image]}]},
      'unsupported_value',
      'this server does not support images and documents (omit messages[0].content[0].source)',
      'messages[0].content[0].source',
    ],
    [
      {messages: [{role: 'user', content: [{type: 'search_result', content: []}]}]},
      'unsupported_value',
      'this server does not support blocks of type search_result (messages[0].content[0].type must be text)',
      'messages[0].content[0].type',
    ],
    [
      {messages: [{role: 'tool', content: 'x'}]},
      'bad_request',
      'messages[0].role must be user, assistant or system',
      'messages[0].role',
    ],
    [
      {tools: [{type: 'web_search_20250305', name: 'web_search'}]},
      'bad_request',
      'tools[0].type must be custom, because this server runs no tools',
      'tools[0].type',
    ],
    [
      {context_management: {edits: [{type: 'clear_tool_uses_20250919'}]}},
      'unsupported_value',
      'this server does not support context_management.edits[0].type (context_management.edits[0].type must be "clear_thinking_20251015")',
      'context_management.edits[0].type',
    ],
    [
      {messages: [{role: 'user', content: [{type: 'tool_result', tool_use_id: 'c', content: [reference]}]}]},
      'bad_request',
      'messages[0].content[0].content[0].tool_name must be the name of a tool of the request',
      'messages[0].content[0].content[0].tool_name',
    ],
    [
      {mcp_servers: [{url: 'x'}]},
      'unsupported_value',
      'this server does not support MCP servers (omit mcp_servers)',
      'mcp_servers',
    ],
  ]
  for (const [fields, code, message, param] of refused)
    it(`is refused: ${message}`, () => assert.throws(() => read(fields), refusal(code, message, param)))
})

describe('the fields of a message', () => {
  it('set the length, the end and the sampling', () => {
    const {request, stopSequences} = read({
      max_tokens: 7,
      stop_sequences: ['END'],
      temperature: 0.5,
      top_k: 5,
      top_p: 0.9,
    })
    assert.equal(request.maxTokens, 7)
    assert.deepEqual([request.stop, stopSequences], [['END'], ['END']])
    const {temperature, topK, topP} = request.sampling
    assert.deepEqual([temperature, topK, topP], [0.5, 5, 0.9])
  })

  it('set the thinking', () => {
    const thinkingOf = (fields: object) => read(fields).request.thinking
    assert.equal(thinkingOf({}), undefined)
    assert.deepEqual(thinkingOf({thinking: {type: 'enabled', budget_tokens: 2048}}), {enabled: true, budget: 2048})
    assert.deepEqual(thinkingOf({thinking: {type: 'adaptive'}}), {enabled: true})
    assert.deepEqual(thinkingOf({thinking: {type: 'disabled'}}), {enabled: false})
    const {prompt} = read({output_config: {effort: 'max'}}).request
    assert.deepEqual(prompt.kind === 'chat' && prompt.variables, {reasoning_effort: 'max'})
  })

  it('require no thinking of the model', () => {
    for (const display of ['summarized', 'updates', 'omitted'])
      assert.equal(read({thinking: {type: 'enabled', budget_tokens: 2048, display}}).requires, undefined)
  })

  it('set the tools and their choice', () => {
    const tools = [{name: 'look', description: 'Looks', input_schema: {type: 'object'}, ...cached}]
    const toolsOf = (choice: object | undefined) => read({tools, tool_choice: choice}).request.tools
    assert.deepEqual(toolsOf(undefined), {
      tools: [{name: 'look', description: 'Looks', parameters: {type: 'object'}, field: 'tools[0].input_schema'}],
      choice: 'auto',
      parallel: true,
    })
    assert.equal(toolsOf({type: 'none'}), undefined)
    assert.equal(toolsOf({type: 'any'})?.choice, 'required')
    assert.equal(toolsOf({type: 'auto', disable_parallel_tool_use: true})?.parallel, false)
    assert.deepEqual(toolsOf({type: 'tool', name: 'look'})?.choice, {name: 'look'})
  })

  it('defer tools until the result of a search refers to them', () => {
    const schema = {type: 'object'}
    const [search, ...deferred] = ['search', 'look', 'listen'].map((name) => ({name, input_schema: schema}))
    const tools = [search, ...deferred.map((tool) => ({...tool, description: 'Senses', defer_loading: true}))]
    const callsOf = (fields: object) => read({tools, ...fields}).request.tools?.tools.map(({name}) => name)
    assert.deepEqual(callsOf({}), ['search'])
    const messages = [
      user,
      {role: 'assistant', content: [{type: 'tool_use', id: 'c', name: 'search', input: {}}]},
      {
        role: 'user',
        content: [{type: 'tool_result', tool_use_id: 'c', content: [reference]}],
      },
    ]
    assert.deepEqual(callsOf({messages}), ['search', 'look'])
    assert.deepEqual(
      read({tools, messages}).request.tools?.tools.map(({isInMessages}) => isInMessages),
      [undefined, true],
    )
    const definition = JSON.stringify({name: 'look', description: 'Senses', parameters: schema})
    assert.equal(messagesOf({tools, messages}).at(-1)?.content, definition)
  })
})
