import {contractSchema, findViolations} from '../contracts/index.js'
import {nearest, SvcError} from '../errors/index.js'
import type {Conversation} from './conversation.js'

export type Parameters = Conversation['parameters']

interface Declared {
  type: 'number' | 'integer' | 'array'
  description: string
}

const contract = 'cli/conversation.v1'

/** The parameters and what they mean, from the contract of saved conversations. */
export async function declaredParameters(): Promise<Readonly<Record<string, Declared>>> {
  const {$defs} = (await contractSchema(contract)) as {
    $defs: {parameters: {properties: Readonly<Record<string, Declared>>}}
  }
  return $defs.parameters.properties
}

/** Sets a parameter to what a user typed. @throws parameter_unknown, parameter_invalid */
export async function withParameter(parameters: Parameters, name: string, text: string): Promise<Parameters> {
  const declared = await declaredParameters()
  const {type} = Object.hasOwn(declared, name) ? (declared[name] as Declared) : {type: undefined}
  if (type === undefined)
    throw new SvcError('parameter_unknown', {name, suggestion: nearest(name, Object.keys(declared))})
  const changed = {...parameters, [name]: type === 'array' ? asList(text) : Number(text)}
  const [violation] = await findViolations(contract, {model: '-', messages: [], parameters: changed})
  const isBlank = type !== 'array' && text === ''
  if (violation !== undefined || isBlank)
    throw new SvcError('parameter_invalid', {
      name,
      value: text,
      reason: violation?.message.replace(/\.$/, '') ?? 'it must be a number',
    })
  return changed as Parameters
}

/** Words, or a JSON list. */
function asList(text: string): unknown {
  if (!text.startsWith('[')) return text.split(/\s+/).filter(Boolean)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
