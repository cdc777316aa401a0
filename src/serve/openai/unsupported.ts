import {SvcError} from '../../errors/index.js'
import {emptyList, type Fields, firstUnsupported, oneOf, type UnsupportedField} from '../body.js'

interface Row extends UnsupportedField {
  reason: string
}

const never = () => false

const isTextFormat = (value: unknown) => (value as {type?: unknown}).type === 'text'

const holdsOnlyText = (value: unknown) => Array.isArray(value) && value.every((modality) => modality === 'text')

/** Fields of other OpenAI-compatible servers that constrain a reply. */
const constraints: readonly Row[] = [
  ...['grammar', 'json_schema', 'guided_json', 'guided_regex', 'guided_choice', 'guided_grammar', 'structured_outputs'],
].map((name) => ({name, allows: never, reason: `this server does not support ${name}`}))

export const unsupportedByChat: readonly Row[] = [
  ...constraints,
  {name: 'tools', allows: emptyList, reason: 'tools are not supported'},
  {
    name: 'tool_choice',
    allows: oneOf('none', 'auto'),
    reason: 'tool_choice must be none or auto without tools',
  },
  {name: 'functions', allows: never, reason: 'functions is deprecated and not supported; use tools'},
  {
    name: 'function_call',
    allows: never,
    reason: 'function_call is deprecated and not supported; use tool_choice',
  },
  {
    name: 'response_format',
    allows: isTextFormat,
    reason: 'response_format must be {"type":"text"}; other formats are not supported',
  },
  {
    name: 'reasoning_effort',
    allows: oneOf('none'),
    reason: 'reasoning_effort must be none; this server does not support reasoning',
  },
  {
    name: 'modalities',
    allows: holdsOnlyText,
    reason: 'modalities must be ["text"]; other modalities are not supported',
  },
]

export const unsupportedInMessages: readonly Row[] = [
  {name: 'role', allows: (role) => role !== 'tool', reason: 'messages with the role tool are not supported'},
  {name: 'tool_calls', allows: emptyList, reason: 'tool_calls are not supported'},
  {name: 'function_call', allows: never, reason: 'function_call is not supported'},
]

export const unsupportedInParts: readonly Row[] = [
  {
    name: 'type',
    allows: (type) => !oneOf('image_url', 'input_audio', 'file')(type),
    reason: 'only text parts are supported, not image_url, input_audio or file',
  },
]

export const unsupportedByCompletions: readonly Row[] = [
  ...constraints,
  {name: 'suffix', allows: oneOf(''), reason: 'suffix is not supported'},
]

/** @throws unsupported_value for the first field that requests an unsupported feature */
export function refuseUnsupported(fields: Fields, table: readonly Row[]): void {
  const row = firstUnsupported(fields, table)
  if (row !== undefined) throw unsupported(fields, row.name, row.reason)
}

export const unsupported = (fields: Fields, name: string, reason: string): SvcError =>
  new SvcError('unsupported_value', {reason, param: fields.param(name)})
