import type {Schema} from '../contracts/index.js'

/**
 * Output schema for `tools/list`, reduced to the required top-level members and their types: models read the complete
 * list before every conversation.
 */
export function listedOutput({type, properties = {}, required}: Schema): Schema {
  const members = Object.entries(properties as Readonly<Record<string, Schema>>)
  const always = members.filter(([name]) => required === undefined || (required as readonly string[]).includes(name))
  return {
    ...(type === undefined ? {} : {type}),
    ...(always.length === 0 ? {} : {properties: Object.fromEntries(always.map(([name, of]) => [name, typeOf(of)]))}),
  }
}

const typeOf = ({type, enum: words}: Schema): Schema => {
  if (words !== undefined) return {type: 'string'}
  return type === undefined ? {} : {type}
}
