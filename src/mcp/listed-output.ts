import type {Schema} from '../contracts/index.js'
import {envelopeSchema} from './envelope.js'

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/**
 * Output schema for `tools/list`: only the ids that a call creates, since other tools take them. Models read the complete
 * list before every conversation. Undefined if there are none.
 */
export function listedOutput(output: Schema, input: Schema): Schema | undefined {
  const {properties = {}, required = []} = output as ObjectSchema
  const {required: given = []} = input as ObjectSchema
  const ids = required.filter((name) => name.endsWith('_id') && !given.includes(name))
  if (ids.length === 0) return undefined
  const members = ids.map((name) => [name, {type: properties[name]?.type ?? 'string'}])
  return envelopeSchema({type: 'object', properties: Object.fromEntries(members)})
}
