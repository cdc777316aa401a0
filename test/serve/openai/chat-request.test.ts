import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {GenerateRequest} from '../../../src/llm/index.js'
import {type OpenAiRequest, readChatCompletion} from '../../../src/serve/openai/chat-request.js'
import type {ChatMessage} from '../../../src/text/index.js'
import {defaults, refusal} from '../samples.js'

const user = (content: unknown) => ({role: 'user', content})
const read = (body: object) => readChatCompletion({messages: [user('Hi')], ...body}, defaults)

const request: GenerateRequest = {
  prompt: {kind: 'chat', messages: [{role: 'user', content: 'Hi'}], overflow: 'refuse'},
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
const saying = (...messages: ChatMessage[]) => asking({prompt: {kind: 'chat', messages, overflow: 'refuse'}})
const rendering = (variables: object, changes: Partial<GenerateRequest> = {}) =>
  asking({
    prompt: {kind: 'chat', messages: [{role: 'user', content: 'Hi'}], overflow: 'refuse', variables: {...variables}},
    ...changes,
  })
const thinking = (enabled: boolean, effort: object = {}) =>
  rendering({enable_thinking: enabled, thinking: enabled, ...effort}, {thinking: {enabled}})

const tool = (changes: object = {}) => ({type: 'function', function: {name: 'f', ...changes}})
const readTool = {name: 'f', field: 'tools[0].function.parameters'}
const calling = (changes: Partial<NonNullable<GenerateRequest['tools']>>): OpenAiRequest => ({
  ...asking({tools: {tools: [readTool], choice: 'auto', parallel: true, ...changes}}),
  requires: ['tools'],
})

const called = (args: object | string) => ({
  id: 'c',
  type: 'function' as const,
  function: {name: 'f', arguments: args as Record<string, unknown> | string},
})

describe('POST /v1/chat/completions', () => {
  const numbers = ['temperature', 'top_p', 'min_p', 'frequency_penalty', 'presence_penalty', 'repetition_penalty']
  const nullable = [...numbers, 'model', 'max_tokens', 'max_completion_tokens', 'stream', 'stop', 'seed', 'n', 'top_k']
  const beyondText = ['tools', 'tool_choice', 'functions', 'function_call', 'response_format', 'reasoning_effort']
  const nulls = [...nullable, ...beyondText, 'logprobs', 'top_logprobs', 'logit_bias', 'stream_options', 'modalities']

  const accepted: [body: object, expected: OpenAiRequest][] = [
    [{}, plain],
    [Object.fromEntries(nulls.map((name) => [name, null])), plain],
    [{model: 'my-run'}, {...plain, model: 'my-run'}],
    [{model: ''}, plain],
    [{max_tokens: 7}, asking({maxTokens: 7})],
    [{max_completion_tokens: 8}, asking({maxTokens: 8})],
    [{max_tokens: 7, max_completion_tokens: 8}, asking({maxTokens: 8})],
    [{max_tokens: -1}, asking({maxTokens: undefined})],
    [{keep_alive: '10m'}, {...plain, keepAlive: 600_000}],
    [{temperature: 0}, sampled({temperature: 0})],
    [{temperature: 2}, sampled({temperature: 2})],
    [{top_p: 0}, sampled({topP: 0})],
    [{top_p: 0.3}, sampled({topP: 0.3})],
    [{stream: true}, {...plain, stream: true}],
    [
      {stream: true, stream_options: {include_usage: true}},
      {...plain, stream: true, includeUsage: true},
    ],
    [
      {stream: true, stream_options: {include_obfuscation: true}},
      {...plain, stream: true},
    ],
    [{stream_options: {include_usage: true}}, plain],
    [{stop: 'END'}, asking({stop: ['END']})],
    [{stop: ['a', 'b', 'c', 'd', 'e']}, asking({stop: ['a', 'b', 'c', 'd', 'e']})],
    [{stop: []}, plain],
    [{seed: 7}, sampled({seed: 7})],
    [{seed: -1}, sampled({seed: 0xffff_ffff})],
    [{seed: 2 ** 40 + 3}, sampled({seed: 3})],
    [{n: 8}, {...plain, n: 8}],
    [{logprobs: false}, plain],
    [{logprobs: true}, asking({topLogprobs: 0})],
    [{logprobs: true, top_logprobs: 20}, asking({topLogprobs: 20})],
    [{logprobs: false, top_logprobs: 0}, plain],
    [{frequency_penalty: -2, presence_penalty: 2}, sampled({frequencyPenalty: -2, presencePenalty: 2})],
    [{logit_bias: {'50256': -100, '7': 1.5}}, sampled({logitBias: {7: 1.5, 50256: -100}})],
    [{logit_bias: {}}, plain],
    [{response_format: {type: 'text'}}, plain],
    [{response_format: {type: 'json_object'}}, asking({format: {field: 'response_format', kind: 'json'}})],
    [
      {response_format: {type: 'json_object', schema: {}}},
      asking({format: {field: 'response_format', kind: 'schema', schema: {}}}),
    ],
    [
      {response_format: {type: 'json_schema', json_schema: {name: 'x', schema: {type: 'null'}, strict: true}}},
      asking({format: {field: 'response_format', kind: 'schema', schema: {type: 'null'}, strict: true}}),
    ],
    [
      {response_format: {type: 'json_schema', schema: true}},
      asking({format: {field: 'response_format', kind: 'schema', schema: true, strict: false}}),
    ],
    [{guided_json: {type: 'null'}}, asking({format: {field: 'guided_json', kind: 'schema', schema: {type: 'null'}}})],
    [
      {guided_json: '{"type": "null"}'},
      asking({format: {field: 'guided_json', kind: 'schema', schema: {type: 'null'}}}),
    ],
    [{guided_regex: 'a+'}, asking({format: {field: 'guided_regex', kind: 'regex', pattern: 'a+'}})],
    [{guided_choice: ['a', 'b']}, asking({format: {field: 'guided_choice', kind: 'choice', choices: ['a', 'b']}})],
    [
      {guided_grammar: 'start: "a"'},
      asking({format: {field: 'guided_grammar', kind: 'grammar', grammar: 'start: "a"'}}),
    ],
    [
      {structured_outputs: {json: {}}},
      asking({format: {field: 'structured_outputs.json', kind: 'schema', schema: {}}}),
    ],
    [
      {structured_outputs: {json_object: true, regex: null}},
      asking({format: {field: 'structured_outputs.json_object', kind: 'json'}}),
    ],
    [
      {structured_outputs: {choice: ['a']}, guided_regex: ''},
      asking({format: {field: 'structured_outputs.choice', kind: 'choice', choices: ['a']}}),
    ],
    [{json_schema: {}}, asking({format: {field: 'json_schema', kind: 'schema', schema: {}}})],
    [
      {grammar: 'root ::= "a"'},
      asking({format: {field: 'grammar', kind: 'grammar', grammar: 'root ::= "a"', syntax: 'gbnf'}}),
    ],
    [{grammar: '', guided_decoding_backend: 'outlines'}, plain],
    [{tools: []}, plain],
    [{tool_choice: 'none'}, plain],
    [{tool_choice: 'auto', parallel_tool_calls: false}, plain],
    [{reasoning_effort: 'none'}, thinking(false, {reasoning_effort: 'none'})],
    [{reasoning_effort: 'low'}, thinking(true, {reasoning_effort: 'low'})],
    [{think: false}, thinking(false)],
    [{think: true}, {...thinking(true), requires: ['thinking']}],
    [{think: 'high'}, {...thinking(true, {reasoning_effort: 'high'}), requires: ['thinking']}],
    [{tools: [tool()]}, calling({tools: [readTool]})],
    [{tools: [tool()], tool_choice: 'none'}, plain],
    [{tools: [tool()], tool_choice: 'required'}, calling({choice: 'required'})],
    [{tools: [tool()], parallel_tool_calls: false}, calling({parallel: false})],
    [
      {tools: [tool()], tool_choice: {type: 'function', function: {name: 'f'}}},
      calling({choice: {name: 'f'}, parallel: false}),
    ],
    [
      {tools: [tool({description: 'Runs', parameters: {type: 'object'}, strict: false})]},
      calling({tools: [{...readTool, description: 'Runs', parameters: {type: 'object'}, strict: false}]}),
    ],
    [
      {chat_template_kwargs: {enable_thinking: false, style: {a: 1}}},
      rendering({enable_thinking: false, style: {a: 1}}),
    ],
    [{chat_template_kwargs: {}}, plain],
    [{add_generation_prompt: true, continue_final_message: false}, plain],
    [{modalities: ['text']}, plain],
    [{top_k: 5, min_p: 0.1, repetition_penalty: 1.2}, sampled({topK: 5, minP: 0.1, repeatPenalty: 1.2})],
    [{repeat_penalty: 1.3, repeat_last_n: 9}, sampled({repeatPenalty: 1.3, repeatLastN: 9})],
    [{top_k: -1}, sampled({topK: 0})],
    [
      {
        ...{user: 'u', metadata: {a: 1}, store: true, service_tier: 'auto', safety_identifier: 's', verbosity: 'low'},
        ...{prompt_cache_key: 'k', prediction: {type: 'content'}, something_new: [1]},
      },
      {...plain, unknown: ['something_new']},
    ],
    [
      {
        messages: [
          user([
            {type: 'text', text: 'H'},
            {type: 'text', text: 'i'},
          ]),
        ],
      },
      plain,
    ],
    [
      {
        messages: [
          {role: 'developer', content: 'Be brief.', name: 'dev'},
          {role: 'system', content: ''},
          {role: 'assistant', content: 'Hello', refusal: null, tool_calls: [], function_call: null},
        ],
      },
      saying(
        {role: 'system', content: 'Be brief.', name: 'dev'},
        {role: 'system', content: ''},
        {role: 'assistant', content: 'Hello'},
      ),
    ],
    [
      {
        messages: [
          {role: 'assistant', content: null, tool_calls: ['{"x": 1}', '', '[1', {y: 2}].map(called)},
          {role: 'tool', content: [{type: 'text', text: '21'}], tool_call_id: 'c'},
          {role: 'assistant', content: '', reasoning_content: 'They ask.'},
        ],
        add_generation_prompt: false,
        continue_final_message: true,
      },
      saying(
        {role: 'assistant', content: null, tool_calls: [{x: 1}, {}, '[1', {y: 2}].map(called)},
        {role: 'tool', content: '21', tool_call_id: 'c'},
        {role: 'assistant', content: '', reasoning_content: 'They ask.'},
      ),
    ],
  ]
  for (const [body, expected] of accepted)
    it(`accepts ${JSON.stringify(body).slice(0, 100)}`, () => assert.deepEqual(read(body), expected))

  const wrongTypes: [type: string, values: unknown[], names: string[]][] = [
    ['string', [5, {}], ['model']],
    ['boolean', ['true', 1], ['stream', 'logprobs', 'parallel_tool_calls']],
    ['integer', ['5', 1.5, true], ['max_tokens', 'max_completion_tokens', 'seed', 'n', 'top_logprobs', 'top_k']],
    ['number', ['0.5', true, Number.NaN, Infinity], numbers],
    ['object', [5, 'a', []], ['stream_options', 'logit_bias']],
    ['string or list of strings', [5, [5]], ['stop']],
    ['list of objects', [5, 'a', {}], ['messages']],
  ]
  for (const [type, values, names] of wrongTypes)
    for (const name of names)
      for (const value of values)
        it(`rejects ${name}: ${JSON.stringify(value)} (${value})`, () =>
          assert.throws(() => read({[name]: value}), refusal('bad_request', `${name} must be of type ${type}`, name)))

  const refused: [body: object, sentence: string, param: string][] = [
    [{messages: undefined}, 'messages must be present', 'messages'],
    [{messages: null}, 'messages must be present', 'messages'],
    [{messages: []}, 'messages must have at least 1 item', 'messages'],
    [{messages: Array(4097).fill(user('Hi'))}, 'messages must have at most 4096 items', 'messages'],
    [{messages: ['Hi']}, 'messages[0] must be of type object', 'messages[0]'],
    ...[{content: 'Hi'}, {role: 'wizard'}, {role: 'User'}, {role: 'function'}, {role: 'constructor'}].map(
      (message): [object, string, string] => [
        {messages: [message]},
        'messages[0].role must be one of developer, system, user, assistant, tool',
        'messages[0].role',
      ],
    ),
    [{messages: [{role: 5}]}, 'messages[0].role must be of type string', 'messages[0].role'],
    ...[null, undefined, 5, {}].map((content): [object, string, string] => [
      {messages: [user(content)]},
      'messages[0].content must be of type string or list of parts',
      'messages[0].content',
    ]),
    [{messages: [user(['Hi'])]}, 'messages[0].content[0] must be of type object', 'messages[0].content[0]'],
    [{messages: [user([{type: 'song'}])]}, 'messages[0].content[0].type must be text', 'messages[0].content[0].type'],
    [{messages: [user([{text: 'Hi'}])]}, 'messages[0].content[0].type must be text', 'messages[0].content[0].type'],
    [
      {messages: [user([{type: 'text'}])]},
      'messages[0].content[0].text must be present',
      'messages[0].content[0].text',
    ],
    [
      {messages: [user([{type: 'text', text: 5}])]},
      'messages[0].content[0].text must be of type string',
      'messages[0].content[0].text',
    ],
    [{max_tokens: 0}, 'max_tokens must be -1 or at least 1', 'max_tokens'],
    ...['json_object', 'text'].map((type): [object, string, string] => [
      {response_format: {type, json_schema: {schema: {}}}},
      'response_format.json_schema must be omitted unless type is json_schema',
      'response_format.json_schema',
    ]),
    [
      {response_format: {type: 'text', schema: {}}},
      'response_format.schema must be omitted if type is text',
      'response_format.schema',
    ],
    [{max_tokens: 0, max_completion_tokens: 8}, 'max_tokens must be -1 or at least 1', 'max_tokens'],
    [{max_completion_tokens: -2}, 'max_completion_tokens must be -1 or at least 1', 'max_completion_tokens'],
    [
      {messages: [{role: 'assistant', content: null, tool_calls: [{}]}]},
      'messages[0].tool_calls[0].function must be a function with a name',
      'messages[0].tool_calls[0].function',
    ],
    [
      {chat_template_kwargs: JSON.parse(`{"x": ${'['.repeat(40)}${']'.repeat(40)}}`)},
      'chat_template_kwargs must be nested at most 32 deep',
      'chat_template_kwargs',
    ],
    [{response_format: 'json'}, 'response_format must be of type object', 'response_format'],
    [{response_format: {}}, 'response_format.type must be text, json_object or json_schema', 'response_format.type'],
    [
      {response_format: {type: 'json_schema'}},
      'response_format.json_schema must be present',
      'response_format.json_schema',
    ],
    [
      {response_format: {type: 'json_schema', json_schema: {name: 'x'}}},
      'response_format.json_schema.schema must be present',
      'response_format.json_schema.schema',
    ],
    [{guided_json: 'x'}, 'guided_json must be a JSON Schema', 'guided_json'],
    [{guided_json: '5'}, 'guided_json must be of type object (a JSON Schema)', 'guided_json'],
    [{guided_choice: []}, 'guided_choice must have at least 1 item', 'guided_choice'],
    [
      {json_schema: {}, structured_outputs: {regex: 'a'}},
      'json_schema must be omitted with structured_outputs.regex',
      'json_schema',
    ],
    [
      {guided_json: JSON.parse(`{"x": ${'['.repeat(300)}${']'.repeat(300)}}`)},
      'guided_json must be nested at most 256 deep',
      'guided_json',
    ],
    [
      {reasoning_effort: 'huge'},
      'reasoning_effort must be one of none, minimal, low, medium, high, xhigh, max',
      'reasoning_effort',
    ],
    [
      {add_generation_prompt: false},
      'add_generation_prompt must be true unless the last message is from the assistant',
      'add_generation_prompt',
    ],
    [{temperature: 2.1}, 'temperature must be between 0 and 2', 'temperature'],
    [{temperature: -0.1}, 'temperature must be between 0 and 2', 'temperature'],
    [{top_p: 1.1}, 'top_p must be between 0 and 1', 'top_p'],
    [{min_p: -1}, 'min_p must be between 0 and 1', 'min_p'],
    [{n: 0}, 'n must be between 1 and 8', 'n'],
    [{n: 9}, 'n must be between 1 and 8', 'n'],
    [{frequency_penalty: 2.1}, 'frequency_penalty must be between -2 and 2', 'frequency_penalty'],
    [{presence_penalty: -2.1}, 'presence_penalty must be between -2 and 2', 'presence_penalty'],
    [{repetition_penalty: 0}, 'repetition_penalty must be between 0.01 and 100', 'repetition_penalty'],
    [{stop: Array(65).fill('a')}, 'stop must have at most 64 items', 'stop'],
    [{stop: 'x'.repeat(1001)}, 'stop must have at most 1000 characters each', 'stop'],
    [{logprobs: true, top_logprobs: 21}, 'top_logprobs must be between 0 and 20', 'top_logprobs'],
    [{logprobs: true, top_logprobs: -1}, 'top_logprobs must be between 0 and 20', 'top_logprobs'],
    [{top_logprobs: 2}, 'top_logprobs must be used with logprobs: true', 'top_logprobs'],
    [{logprobs: false, top_logprobs: 2}, 'top_logprobs must be used with logprobs: true', 'top_logprobs'],
    [{logit_bias: {'5': 101}}, 'logit_bias.5 must be between -100 and 100', 'logit_bias.5'],
    [{logit_bias: {'5': 'a'}}, 'logit_bias.5 must be of type number', 'logit_bias.5'],
    [{logit_bias: {hello: 5}}, 'logit_bias must have token ids as its keys', 'logit_bias'],
    [{logit_bias: {'-1': 5}}, 'logit_bias must have token ids as its keys', 'logit_bias'],
    [
      {stream_options: {include_usage: 1}},
      'stream_options.include_usage must be of type boolean',
      'stream_options.include_usage',
    ],
  ]
  const aName = 'have 1 to 128 letters, digits, underscores, dots, colons, slashes or hyphens'
  const choices = 'tool_choice must be none, auto, required, or a function with a name'
  refused.push(
    [{tools: [{type: 'custom'}]}, 'tools[0].type must be function', 'tools[0].type'],
    [{tools: [{}]}, 'tools[0].function must be present', 'tools[0].function'],
    [{tools: [{function: {name: 'a b'}}]}, `tools[0].function.name must ${aName}`, 'tools[0].function.name'],
    [
      {tools: [tool(), tool()]},
      'tools[1].function.name must differ from those of the other tools',
      'tools[1].function.name',
    ],
    [
      {tools: [tool({parameters: []})]},
      'tools[0].function.parameters must be of type object (a JSON Schema)',
      'tools[0].function.parameters',
    ],
    [{tool_choice: 'required'}, 'tools must be present if tool_choice is required', 'tools'],
    [{tool_choice: 'f'}, choices, 'tool_choice'],
    [{tool_choice: {type: 'function'}}, choices, 'tool_choice'],
    [
      {tools: [tool()], tool_choice: {type: 'function', function: {name: 'g'}}},
      'tool_choice must be the name of a tool, not "g"',
      'tool_choice',
    ],
    [{think: 'much'}, 'think must be true, false, low, medium, high or max', 'think'],
  )
  for (const [body, sentence, param] of refused)
    it(`rejects ${JSON.stringify(body).slice(0, 100)}`, () =>
      assert.throws(() => read(body), refusal('bad_request', sentence, param)))

  const noMedia = 'only text parts are supported, not image_url, input_audio or file'
  const unsupported: [body: object, sentence: string, param: string][] = [
    [{functions: []}, 'this server does not support functions (use tools)', 'functions'],
    [{function_call: 'auto'}, 'this server does not support function_call (use tool_choice)', 'function_call'],
    [{format: 'json'}, 'this server does not support format (format must be ""; use response_format)', 'format'],
    [{structural_tag: {}}, 'this server does not support structural_tag', 'structural_tag'],
    [
      {modalities: ['text', 'audio']},
      'this server does not support other modalities (modalities must be ["text"])',
      'modalities',
    ],
    [
      {messages: [{role: 'assistant', content: null, function_call: {}}]},
      'this server does not support messages[0].function_call (use tool_calls)',
      'messages[0].function_call',
    ],
    ...['image_url', 'input_audio', 'file'].map((type): [object, string, string] => [
      {messages: [user([{type: 'text', text: 'Hi'}, {type}])]},
      noMedia,
      'messages[0].content[1].type',
    ]),
  ]
  for (const [body, sentence, param] of unsupported)
    it(`does not support ${JSON.stringify(body)}`, () =>
      assert.throws(() => read(body), refusal('unsupported_value', sentence, param)))

  it('rejects a missing body', () =>
    assert.throws(() => readChatCompletion(undefined, defaults), refusal('body_missing', 'missing request body', null)))
})
