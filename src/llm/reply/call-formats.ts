import type {CallFormat} from './call-format.js'
import {jsonArguments} from './json-arguments.js'

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

/** All formats; the first whose text a template writes is that of its model. */
export const callFormats: readonly CallFormat[] = [hermes]

export function callFormat(name: string): CallFormat {
  const format = callFormats.find((each) => each.name === name)
  if (format === undefined) throw new Error(`There is no format of calls "${name}".`)
  return format
}
