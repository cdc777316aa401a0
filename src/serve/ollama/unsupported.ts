import {SvcError} from '../../errors/index.js'
import {emptyList, type Fields, firstUnsupported, oneOf, type UnsupportedField} from '../body.js'

interface Row extends UnsupportedField {
  reason: string
}

const noTools = 'this server does not support tools'
const format: Row = {name: 'format', allows: oneOf(''), reason: 'this server does not support format'}
const think: Row = {name: 'think', allows: oneOf(false), reason: 'this server does not support thinking'}
const images: Row = {name: 'images', allows: emptyList, reason: 'this server does not support images'}

export const unsupportedByGenerate: readonly Row[] = [
  {name: 'template', allows: oneOf(''), reason: 'this server does not support custom templates'},
  {name: 'suffix', allows: oneOf(''), reason: 'this server does not support insert'},
  images,
  format,
  think,
]

export const unsupportedByChat: readonly Row[] = [{name: 'tools', allows: emptyList, reason: noTools}, format, think]

export const unsupportedInMessages: readonly Row[] = [
  {name: 'role', allows: (role) => typeof role !== 'string' || role.toLowerCase() !== 'tool', reason: noTools},
  {name: 'tool_calls', allows: emptyList, reason: noTools},
  images,
]

/** @throws bad_request for the first field that requests an unsupported feature */
export function refuseUnsupported(fields: Fields, table: readonly Row[]): void {
  const row = firstUnsupported(fields, table)
  if (row !== undefined) throw new SvcError('bad_request', {reason: row.reason, param: fields.param(row.name)})
}
