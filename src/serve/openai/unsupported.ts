import {SvcError} from '../../errors/index.js'
import {emptyList, type Fields, firstUnsupported, oneOf, type UnsupportedField} from '../body.js'

interface Row extends UnsupportedField {
  say: string
}

const never = () => false

const isTextFormat = (value: unknown) => (value as {type?: unknown}).type === 'text'

const holdsOnlyText = (value: unknown) => Array.isArray(value) && value.every((modality) => modality === 'text')

/** Fields by which other servers of this dialect constrain a reply. */
const constraints: readonly Row[] = [
  ...['grammar', 'json_schema', 'guided_json', 'guided_regex', 'guided_choice', 'guided_grammar', 'structured_outputs'],
].map((name) => ({name, allows: never, say: `this server does not support ${name}`}))

export const unsupportedByChat: readonly Row[] = [
  ...constraints,
  {name: 'tools', allows: emptyList, say: 'tools are not supported'},
  {
    name: 'tool_choice',
    allows: oneOf('none', 'auto'),
    say: 'tool_choice must be none or auto where there are no tools',
  },
  {name: 'functions', allows: never, say: 'functions is deprecated and not supported; its successor is tools'},
  {
    name: 'function_call',
    allows: never,
    say: 'function_call is deprecated and not supported; its successor is tool_choice',
  },
  {
    name: 'response_format',
    allows: isTextFormat,
    say: 'response_format must be {"type":"text"}: no other is supported',
  },
  {
    name: 'reasoning_effort',
    allows: oneOf('none'),
    say: 'reasoning_effort must be none: this server does not support reasoning',
  },
  {name: 'modalities', allows: holdsOnlyText, say: 'modalities must be ["text"]: no other is supported'},
]

export const unsupportedInMessages: readonly Row[] = [
  {name: 'role', allows: (role) => role !== 'tool', say: 'messages of the role tool are not supported'},
  {name: 'tool_calls', allows: emptyList, say: 'tool_calls are not supported'},
  {name: 'function_call', allows: never, say: 'function_call is not supported'},
]

export const unsupportedInParts: readonly Row[] = [
  {
    name: 'type',
    allows: (type) => !oneOf('image_url', 'input_audio', 'file')(type),
    say: 'this server reads text alone: parts of the types image_url, input_audio and file are not supported',
  },
]

export const unsupportedByCompletions: readonly Row[] = [
  ...constraints,
  {name: 'suffix', allows: oneOf(''), say: 'suffix is not supported'},
]

/** @throws unsupported_value for the first field that asks for what the server cannot do */
export function refuseUnsupported(fields: Fields, table: readonly Row[]): void {
  const row = firstUnsupported(fields, table)
  if (row !== undefined) throw unsupported(fields, row.name, row.say)
}

export const unsupported = (fields: Fields, name: string, reason: string): SvcError =>
  new SvcError('unsupported_value', {reason, param: fields.param(name)})
