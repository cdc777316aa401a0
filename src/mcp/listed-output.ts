import type {Schema} from '../contracts/index.js'

/**
 * An output as a list of tools shows it, which a model reads before every conversation: as deep as its first members,
 * those that are always there, and of what type each is.
 */
export function listedOutput({type, properties = {}, required}: Schema): Schema {
  const members = Object.entries(properties as Readonly<Record<string, Schema>>)
  const certain = members.filter(([name]) => required === undefined || (required as readonly string[]).includes(name))
  return {
    ...(type === undefined ? {} : {type}),
    ...(certain.length === 0 ? {} : {properties: Object.fromEntries(certain.map(([name, of]) => [name, typeOf(of)]))}),
  }
}

const typeOf = ({type, enum: words}: Schema): Schema => {
  if (words !== undefined) return {type: 'string'}
  return type === undefined ? {} : {type}
}
