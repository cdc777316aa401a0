import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {readResponsesRequest} from '../../../src/serve/responses/request.js'
import type {ChatMessage} from '../../../src/text/index.js'
import {defaults, refusal} from '../samples.js'

const user = {role: 'user', content: 'Hi'} as const

const messagesOf = (body: object): readonly ChatMessage[] => {
  const {prompt} = readResponsesRequest(body, defaults).request
  return prompt.kind === 'chat' ? prompt.messages : []
}

const call = {type: 'function_call', call_id: 'c', name: 'f', arguments: '{"x":1}', status: 'completed', id: 'fc_1'}
const called = {id: 'c', type: 'function', function: {name: 'f', arguments: {x: 1}}}

describe('the input of a response', () => {
  const accepted: [what: string, body: object, expected: object[]][] = [
    ['a text', {input: 'Hi'}, [user]],
    ['instructions', {input: 'Hi', instructions: 'Be brief.'}, [{role: 'system', content: 'Be brief.'}, user]],
    [
      'messages of all roles',
      {
        input: [
          {
            type: 'message',
            role: 'developer',
            content: [
              {type: 'input_text', text: 'Be '},
              {type: 'input_text', text: 'brief.'},
            ],
          },
          {role: 'system', content: 'Now.'},
          {role: 'assistant', content: [{type: 'output_text', text: 'Yes?', annotations: [], logprobs: []}]},
          {role: 'assistant', content: [{type: 'refusal', refusal: 'No.'}]},
          user,
        ],
      },
      [
        {role: 'system', content: 'Be brief.'},
        {role: 'system', content: 'Now.'},
        {role: 'assistant', content: 'Yes?'},
        {role: 'assistant', content: 'No.'},
        user,
      ],
    ],
    [
      'the items of a turn as one message',
      {
        input: [
          user,
          {type: 'reasoning', id: 'rs_1', summary: [{type: 'summary_text', text: 'Look.'}], encrypted_content: 'x'},
          {role: 'assistant', content: 'I look.', phase: 'commentary'},
          call,
          {...call, call_id: 'd', arguments: ''},
          {type: 'function_call_output', call_id: 'c', output: 'rain'},
          {type: 'function_call_output', call_id: 'd', output: [{type: 'input_text', text: 'sun'}]},
        ],
      },
      [
        user,
        {
          role: 'assistant',
          content: 'I look.',
          reasoning_content: 'Look.',
          tool_calls: [called, {...called, id: 'd', function: {name: 'f', arguments: {}}}],
        },
        {role: 'tool', content: 'rain', name: 'f', tool_call_id: 'c'},
        {role: 'tool', content: 'sun', name: 'f', tool_call_id: 'd'},
      ],
    ],
    [
      'the content of reasoning before its summary',
      {
        input: [
          {
            type: 'reasoning',
            summary: [{type: 'summary_text', text: 'Short.'}],
            content: [{type: 'reasoning_text', text: 'Long.'}],
          },
          call,
          {type: 'function_call_output', call_id: 'c', output: ''},
        ],
      },
      [
        {role: 'assistant', content: null, reasoning_content: 'Long.', tool_calls: [called]},
        {role: 'tool', content: '', name: 'f', tool_call_id: 'c'},
      ],
    ],
  ]
  for (const [what, body, expected] of accepted)
    it(`is read: ${what}`, () => assert.deepEqual(messagesOf(body), expected))

  const refused: [body: object, code: string, message: string, param: string][] = [
    [{}, 'bad_request', 'input must be of type string or list of items', 'input'],
    [
      {input: [{role: 'user', content: [{type: 'input_image', image_url: 'data:image/png;base64,aGk='}]}]},
      'unsupported_value',
      'this server does not support images (omit input[0].content[0].image_url)',
      'input[0].content[0].image_url',
    ],
    [
      {input: [{role: 'user', content: [{type: 'input_image', file_id: null}]}]},
      'unsupported_value',
      'only parts with text are supported, not input_image',
      'input[0].content[0].type',
    ],
    [
      {input: [{type: 'item_reference', id: 'msg_1'}]},
      'unsupported_value',
      'this server stores no items (input[0].type must not be item_reference)',
      'input[0].type',
    ],
    [
      {input: 'Hi', previous_response_id: 'resp_1'},
      'unsupported_value',
      'this server does not support stored responses (omit previous_response_id; use input)',
      'previous_response_id',
    ],
    [
      {input: [{type: 'web_search_call', id: 'x'}]},
      'bad_request',
      'input[0].type must be message, reasoning, function_call or function_call_output',
      'input[0].type',
    ],
  ]
  for (const [body, code, message, param] of refused)
    it(`is refused: ${message}`, () => assert.throws(() => messagesOf(body), refusal(code, message, param)))
})

describe('the tools of a response', () => {
  const weather = {type: 'function', name: 'weather', parameters: {type: 'object'}}
  const clock = {type: 'function', name: 'clock'}
  const read = (fields: object) => readResponsesRequest({input: 'Hi', ...fields}, defaults)
  const namesOf = (fields: object) => read(fields).request.tools?.tools.map(({name}) => name)

  it('are its functions; the types of others are in a header', () => {
    const tools = [weather, {type: 'web_search'}, {type: 'custom', name: 'patch'}, {type: 'web_search'}, {type: 'a\nb'}]
    assert.deepEqual(namesOf({tools}), ['weather'])
    assert.deepEqual(read({tools}).headers, {'x-svc-skipped-tools': 'web_search, custom, unknown'})
    assert.equal(read({tools: [weather]}).headers, undefined)
  })

  it('are the allowed ones', () => {
    const choice = {type: 'allowed_tools', mode: 'required', tools: [{type: 'function', name: 'clock'}]}
    assert.deepEqual(namesOf({tools: [weather, clock], tool_choice: choice}), ['clock'])
    assert.equal(read({tools: [weather, clock], tool_choice: choice}).request.tools?.choice, 'required')
  })

  it('can be required, forbidden, or one of them', () => {
    const tools = [weather, clock]
    assert.equal(read({tools, tool_choice: 'none'}).request.tools, undefined)
    assert.equal(read({tools, tool_choice: 'required'}).request.tools?.choice, 'required')
    assert.deepEqual(read({tools, tool_choice: {type: 'function', name: 'clock'}}).request.tools?.choice, {
      name: 'clock',
    })
    assert.throws(() => read({tools, tool_choice: {type: 'web_search'}}), /tool_choice must be/)
  })
})
