import type {Binding, Ir} from '../check/index.js'

/** The reason why a function cannot be written in TypeScript. */
export class NotPortable extends Error {}

/** How the value of a construct's last expression is used. */
export type Use = 'return' | 'ignore'

/** The interface between the modules of the writer. @throws NotPortable */
export interface Writing {
  functionName(name: string): string
  variable(binding: Binding): string
  temporary(): string
  value(ir: Ir): string
  /** Writes an expression as the statements of a body. */
  body(ir: Ir, use: Use): string
}

export const indent = (lines: string): string => lines.replace(/^(?=.)/gm, '  ')

/** The methods with a counterpart in TypeScript, as `family.name`. */
export const portableMethods: Readonly<Record<string, (self: string, args: readonly string[]) => string>> = {
  'list.len': (self) => `${self}.length`,
  'list.is_empty': (self) => `(${self}.length === 0)`,
  'list.append': (self, [item]) => `[...${self}, ${item}]`,
  'list.push': (self, [item]) => `[...${self}, ${item}]`,
  'list.first': (self) => `(${self}[0] ?? null)`,
  'list.last': (self) => `(${self}.at(-1) ?? null)`,
  'list.get': (self, [index]) => `(${self}.at(${index}) ?? null)`,
  'list.contains': (self, [item]) => `${self}.some((each) => equal(each, ${item}))`,
  'list.join': (self, [separator = '""']) => `${self}.map(show).join(${separator})`,
  'list.map': (self, [call]) => `${self}.map((each) => ${call}(each))`,
  'list.filter': (self, [call]) => `${self}.filter((each) => ${call}(each))`,
  'list.concat': (self, [others]) => `[...${self}, ...${others}]`,
  'list.flat_map': (self, [call]) => `${self}.flatMap((each) => ${call}(each))`,
  'list.find': (self, [call]) => `(${self}.find((each) => ${call}(each)) ?? null)`,
  'list.any': (self, [call]) => `${self}.some((each) => ${call}(each))`,
  'list.all': (self, [call]) => `${self}.every((each) => ${call}(each))`,
  'list.reduce': (self, [call, initial]) => `${self}.reduce((total, each) => ${call}(total, each), ${initial})`,
  'list.slice': (self, args) => `${self}.slice(${args.join(', ')})`,
  'list.take': (self, [count]) => `${self}.slice(0, Math.max(0, ${count}))`,
  'list.skip': (self, [count]) => `${self}.slice(Math.max(0, ${count}))`,
  'list.count': (self, [call]) => `${self}.filter((each) => ${call}(each)).length`,
  'list.index_of': (self, [item]) => `${self}.findIndex((each) => equal(each, ${item}))`,
  'list.zip': (self, [others]) => `$zip(${self}, ${others})`,
  'list.sum': (self) => `$sum(${self})`,
  'list.avg': (self) => `$avg(${self})`,
  'list.min': (self) => `$least(${self}, 1)`,
  'list.max': (self) => `$least(${self}, -1)`,
  'list.sort': (self) => `$sorted(${self}, (each) => each)`,
  'list.sort_by': (self, [key]) => `$sorted(${self}, ${key})`,
  'list.distinct': (self) => `$distinct(${self})`,
  'list.to_set': (self) => `$distinct(${self})`,
  'list.reverse': (self) => `[...${self}].reverse()`,
  'str.len': (self) => `[...${self}].length`,
  'str.is_empty': (self) => `(${self} === "")`,
  'str.contains': (self, [part]) => `${self}.includes(${part})`,
  'str.starts_with': (self, [part]) => `${self}.startsWith(${part})`,
  'str.ends_with': (self, [part]) => `${self}.endsWith(${part})`,
  'str.trim': (self) => `${self}.trim()`,
  'str.trim_start': (self) => `${self}.trimStart()`,
  'str.trim_end': (self) => `${self}.trimEnd()`,
  'str.to_upper': (self) => `${self}.toUpperCase()`,
  'str.to_lower': (self) => `${self}.toLowerCase()`,
  'str.replace': (self, [from, to]) => `${self}.split(${from}).join(${to})`,
  'str.split': (self, [separator]) => `${self}.split(${separator})`,
  'option.is_some': (self) => `(${self} !== null)`,
  'option.is_none': (self) => `(${self} === null)`,
  'option.unwrap': (self) => `unwrap(${self})`,
  'option.unwrap_or': (self, [fallback]) => `$or(${self}, ${fallback})`,
  'option.map': (self, [call]) => `$mapped(${self}, ${call})`,
  'option.or_else': (self, [other]) => `$orElse(${self}, ${other})`,
  'result.is_ok': (self) => `(${self}._tag === "Ok")`,
  'result.is_err': (self) => `(${self}._tag === "Error")`,
}
