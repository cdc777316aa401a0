import type {Expression, Grammar} from '../../../src/grammar/index.js'
import {either, integer, jsonString, lexeme, rule, sequence} from '../../grammar/support/build.js'

/** The part of JSON Schema that the benchmark uses. All properties are required, in this order. */
export type Schema =
  | {type: 'object'; properties: Record<string, Schema>; required: string[]; additionalProperties: false}
  | {type: 'array'; items: Schema}
  | {type: 'string'; maxLength?: number}
  | {type: 'integer'}
  | {type: 'boolean'}
  | {enum: string[]}
  | {anyOf: Schema[]}

const object = (properties: Record<string, Schema>): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

const text: Schema = {type: 'string'}
const short: Schema = {type: 'string', maxLength: 40}
const array = (items: Schema): Schema => ({type: 'array', items})

/** Schemas, each with values to write. */
export const cases: Readonly<Record<string, {schema: Schema; values: unknown[]}>> = {
  person: {
    schema: object({
      name: short,
      age: {type: 'integer'},
      role: {enum: ['reader', 'writer', 'owner']},
      tags: array(short),
      active: {type: 'boolean'},
    }),
    values: [
      {name: 'Anna Maria Weber', age: 42, role: 'writer', tags: ['first', 'a second tag', 'été'], active: true},
      {name: 'Łukasz', age: 7, role: 'owner', tags: [], active: false},
    ],
  },
  extraction: {
    schema: object({
      summary: text,
      items: array(object({id: {type: 'integer'}, title: text, quote: {anyOf: [short, {type: 'integer'}]}})),
    }),
    values: [
      {
        summary: 'The quick brown fox "jumps" over the lazy dog.\nThen it rests, and looks for something to eat.',
        items: [
          {id: 1, title: 'Animals of the forest', quote: 'jumps over'},
          {id: 23, title: 'Rest, food & other needs: an overview', quote: 17},
        ],
      },
    ],
  },
  tools: {
    schema: {
      anyOf: Array.from({length: 100}, (_, i) =>
        object({tool: {enum: [`tool_${i}_${(i * 7919) % 101}`]}, path: text, count: {type: 'integer'}}),
      ),
    },
    values: [
      {tool: 'tool_17_91', path: '/srv/data/reports/2026/summary.md', count: 3},
      {tool: 'tool_3_22', path: 'src/index.ts', count: 100},
    ],
  },
}

/** Writes a value as the grammars here and XGrammar's compact format do: with a space after commas and colons. */
export function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, each]) => `${JSON.stringify(key)}: ${write(each)}`)
    .join(', ')}}`
}

export function grammarOf(schema: Schema): Grammar {
  const rules = new Map<string, Expression>()
  const known = new Map<Schema, Expression>()
  const convert = (each: Schema): Expression => {
    const found = known.get(each) ?? rule(`${known.size}`)
    if (known.has(each)) return found
    known.set(each, found)
    rules.set((found as Expression & {kind: 'rule'}).name, create(each))
    return found
  }
  const create = (each: Schema): Expression => {
    if ('enum' in each) return either(...each.enum.map((value) => lexeme(JSON.stringify(value))))
    if ('anyOf' in each) return either(...each.anyOf.map(convert))
    if (each.type === 'string') return lexeme(jsonString(0, each.maxLength))
    if (each.type === 'integer') return lexeme(integer)
    if (each.type === 'boolean') return either(lexeme('true'), lexeme('false'))
    if (each.type === 'array') {
      const item = convert(each.items)
      const others: Expression = {
        kind: 'repeat',
        part: sequence(lexeme(', '), item),
        min: 0,
        max: Number.POSITIVE_INFINITY,
      }
      return sequence(lexeme('['), either(sequence(), sequence(item, others)), lexeme(']'))
    }
    const members = Object.entries(each.properties).flatMap(([key, value], i) => [
      lexeme(`${i === 0 ? '{' : ', '}${JSON.stringify(key)}: `),
      convert(value),
    ])
    return sequence(...members, lexeme('}'))
  }
  const start = convert(schema) as Expression & {kind: 'rule'}
  return {start: start.name, rules}
}
