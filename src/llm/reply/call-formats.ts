import {braceArguments} from './brace-arguments.js'
import type {CallFormat} from './call-format.js'
import {jsonArguments} from './json-arguments.js'
import {pythonArguments} from './python-arguments.js'
import {taggedArguments} from './tagged-arguments.js'

/** Calls as JSON objects with a name and arguments. */
const json = {prefix: '{"name": "', nameEnd: '", "arguments": ', suffix: '}', notation: jsonArguments}

/** Qwen 2.5 and 3, Hermes. Also what models are asked to write if their template has no calls. */
export const hermes: CallFormat = {
  ...json,
  name: 'hermes',
  open: '<tool_call>\n',
  trigger: '<tool_call>',
  between: '\n</tool_call>\n<tool_call>\n',
  close: '\n</tool_call>',
}

/** Qwen 3 Coder and 3.5. */
const qwenCoder: CallFormat = {
  name: 'qwen-coder',
  open: '<tool_call>\n',
  trigger: '<tool_call>',
  prefix: '<function=',
  nameEnd: '>\n',
  suffix: '',
  between: '\n</tool_call>\n<tool_call>\n',
  close: '\n</tool_call>',
  notation: taggedArguments({open: '<parameter=', named: '>\n', close: '\n</parameter>\n', end: '</function>'}),
}

/** GLM 4.5 and 4.6. */
const glm: CallFormat = {
  name: 'glm',
  open: '<tool_call>',
  trigger: '<tool_call>',
  prefix: '',
  nameEnd: '\n',
  suffix: '',
  between: '\n<tool_call>',
  close: '',
  notation: taggedArguments({
    open: '<arg_key>',
    named: '</arg_key>\n<arg_value>',
    close: '</arg_value>\n',
    end: '</tool_call>',
  }),
  rendered: (tool) => `<tool_call>${tool}<arg_key>`,
}

/** Llama 3.1 to 3.3: the whole reply is a call. */
const llama: CallFormat = {
  ...json,
  name: 'llama',
  nameEnd: '", "parameters": ',
  open: '',
  trigger: '{"name": "',
  isFirst: true,
  between: undefined,
  close: '',
}

/** Mistral with tokenizers up to version 7: a JSON list. */
const mistral: CallFormat = {
  ...json,
  name: 'mistral',
  open: '[TOOL_CALLS][',
  trigger: '[TOOL_CALLS]',
  between: ', ',
  close: ']',
}

/** The same with a space, which some tokenizers write before text. */
const mistralSpaced: CallFormat = {...mistral, name: 'mistral-spaced', open: '[TOOL_CALLS] ['}

/** Mistral from version 11 of the tokenizer on. */
const mistralArguments: CallFormat = {
  name: 'mistral-args',
  open: '[TOOL_CALLS]',
  trigger: '[TOOL_CALLS]',
  prefix: '',
  nameEnd: '[ARGS]',
  suffix: '',
  between: '[TOOL_CALLS]',
  close: '',
  notation: jsonArguments,
}

/** LFM 2 with calls as JSON. */
const lfmJson: CallFormat = {
  ...json,
  name: 'lfm-json',
  open: '<|tool_call_start|>[',
  trigger: '<|tool_call_start|>',
  between: ', ',
  close: ']<|tool_call_end|>',
}

/** LFM 2 and 2.5: calls as in Python. */
const lfm: CallFormat = {
  name: 'lfm',
  open: '<|tool_call_start|>[',
  trigger: '<|tool_call_start|>',
  prefix: '',
  nameEnd: '(',
  suffix: '',
  between: ', ',
  close: ']<|tool_call_end|>',
  notation: pythonArguments,
}

/** GPT-OSS: each message has a channel, and a call is all of a message. */
const harmony: CallFormat = {
  name: 'harmony',
  open: '<|channel|>commentary to=functions.',
  trigger: '<|channel|>commentary to=functions.',
  isFirst: true,
  prefix: '',
  nameEnd: ' <|constrain|>json<|message|>',
  suffix: '',
  between: undefined,
  close: '',
  notation: jsonArguments,
  rendered: (tool) => `to=functions.${tool}<|channel|>commentary`,
}

/** FunctionGemma. */
const functionGemma: CallFormat = {
  name: 'functiongemma',
  open: '<start_function_call>',
  trigger: '<start_function_call>',
  prefix: 'call:',
  nameEnd: '',
  suffix: '',
  between: '<end_function_call><start_function_call>',
  close: '<end_function_call>',
  notation: braceArguments('<escape>'),
}

/** Gemma 4. */
const gemma: CallFormat = {
  ...functionGemma,
  name: 'gemma-4',
  open: '<|tool_call>',
  trigger: '<|tool_call>',
  between: '<tool_call|><|tool_call>',
  close: '<tool_call|>',
  notation: braceArguments('<|"|>'),
}

/** All formats; the first whose text a template writes is that of its model. */
export const callFormats: readonly CallFormat[] = [
  hermes,
  qwenCoder,
  glm,
  mistral,
  mistralSpaced,
  mistralArguments,
  lfmJson,
  lfm,
  harmony,
  functionGemma,
  gemma,
  llama,
]

export function callFormat(name: string): CallFormat {
  const format = callFormats.find((each) => each.name === name)
  if (format === undefined) throw new Error(`There is no format of calls "${name}".`)
  return format
}
