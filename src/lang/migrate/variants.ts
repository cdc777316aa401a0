import {type FieldType, type Type, type Visitor, visitSome} from '../check/index.js'
import {isObject} from '../run/index.js'

type Rename = (json: unknown) => unknown

/** Whether a type contains variants with an earlier name. */
export const hasRenamedVariants = (type: Type): boolean => namesIn(type, new Set())

function namesIn(type: Type, seen: Set<object>): boolean {
  const inFields = (fields: readonly FieldType[]) => fields.some((field) => namesIn(field.type, seen))
  const inOnly = ({of}: {of: Type}) => namesIn(of, seen)
  const visitors: Partial<Visitor<Type, boolean, undefined>> = {
    list: inOnly,
    set: inOnly,
    map: inOnly,
    option: inOnly,
    tuple: ({items}) => items.some((item) => namesIn(item, seen)),
    record: ({record}) => !seen.has(record) && seen.add(record) !== undefined && inFields(record.fields),
    sum: ({sum}) =>
      !seen.has(sum) &&
      seen.add(sum) !== undefined &&
      sum.variants.some(({was, fields}) => was !== undefined || inFields(fields)),
  }
  return visitSome(type, visitors, undefined, () => false)
}

/** Replaces the earlier names of variants in a JSON value, before it is decoded. */
export function renameVariants(type: Type): Rename {
  if (!hasRenamedVariants(type)) return (json) => json
  const inFields = (fields: readonly FieldType[], json: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(json).map(([key, value]) => {
        const field = fields.find(({name}) => name === key)
        return [key, field === undefined ? value : renameVariants(field.type)(value)]
      }),
    )
  const visitors: Partial<Visitor<Type, Rename, undefined>> = {
    list: ({of}) => inItems(of),
    set: ({of}) => inItems(of),
    map: ({of}) => {
      const rename = (json: unknown) => renameVariants(of)(json)
      return (json) =>
        isRecord(json) ? Object.fromEntries(Object.entries(json).map(([key, value]) => [key, rename(value)])) : json
    },
    option: ({of}) => renameVariants(of),
    tuple:
      ({items}) =>
      (json) =>
        Array.isArray(json)
          ? json.map((each, i) => (items[i] === undefined ? each : renameVariants(items[i])(each)))
          : json,
    record:
      ({record}) =>
      (json) =>
        isRecord(json) ? inFields(record.fields, json) : json,
    sum:
      ({sum}) =>
      (json) => {
        if (!isRecord(json)) return json
        const variant =
          sum.variants.find(({name}) => name === json._tag) ?? sum.variants.find(({was}) => was === json._tag)
        return variant === undefined ? json : {...inFields(variant.fields, json), _tag: variant.name}
      },
  }
  return visitSome(type, visitors, undefined, () => (json: unknown) => json)
}

const inItems =
  (of: Type): Rename =>
  (json) =>
    Array.isArray(json) ? json.map((each) => renameVariants(of)(each)) : json

const isRecord = (json: unknown): json is Record<string, unknown> => isObject(json) && !Array.isArray(json)
