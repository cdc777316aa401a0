import {SvcError} from '../../errors/index.js'
import {
  type Expression,
  type Pattern,
  type Steps,
  schemaGrammarInSteps,
  stringsOfSchema,
  structure,
} from '../../grammar/index.js'
import type {Tool} from '../tools.js'
import type {ArgumentsGrammar, ArgumentsNotation} from './call-format.js'
import {schemaOf, writeJson} from './json-arguments.js'

/** Tags around each argument. */
export interface ArgumentTags {
  /** What precedes and follows the name. */
  readonly open: string
  readonly named: string
  /** What follows the value. */
  readonly close: string
  /** What follows the last argument. */
  readonly end: string
}

type Schema = Readonly<Record<string, unknown>>

/** Keywords of arguments that are written one by one. */
const supported =
  'type properties required additionalProperties $defs definitions $schema $id title description examples default $comment'

const {tag, valueBefore, part, sequence, optional} = structure

/** The schemas of the arguments of a tool, by name. @throws schema_keyword_unsupported, schema_invalid */
export function argumentSchemas(tool: Tool): readonly {name: string; schema: unknown; isRequired: boolean}[] {
  const schema = schemaOf(tool) as Schema
  const other = Object.keys(schema).find((keyword) => !supported.split(' ').includes(keyword))
  if (other !== undefined)
    throw new SvcError('schema_keyword_unsupported', {
      keyword: other,
      pointer: '#',
      reason: 'this model writes each argument on its own',
    })
  const {properties = {}, required = [], $defs, definitions, $schema} = schema
  const shared = Object.fromEntries(
    Object.entries({$schema, $defs, definitions}).filter(([, value]) => value !== undefined),
  )
  const declared = properties as Schema
  const names = [...new Set([...Object.keys(declared), ...(required as readonly string[])])]
  return names.map((name) => {
    const own = declared[name] ?? true
    return {
      name,
      schema: typeof own === 'object' ? {...shared, ...own} : own,
      isRequired: (required as readonly string[]).includes(name),
    }
  })
}

/** Arguments in tags: a string that is the only type is plain text, other values are JSON. */
export const taggedArguments = (tags: ArgumentTags): ArgumentsNotation => ({
  tags: Object.values(tags) as string[],
  marked: (withMarks) =>
    taggedArguments({
      open: withMarks(tags.open),
      named: withMarks(tags.named),
      close: withMarks(tags.close),
      end: withMarks(tags.end),
    }),
  write: (values) =>
    Object.entries(values)
      .map(
        ([name, value]) =>
          tags.open + name + tags.named + (typeof value === 'string' ? value : writeJson(value)) + tags.close,
      )
      .join('') + tags.end,
  *grammar(tool, name): Steps<ArgumentsGrammar> {
    const rules = new Map<string, Expression>()
    const texts: string[] = []
    const parts: Expression[] = []
    for (const {name: argument, schema, isRequired} of argumentSchemas(tool)) {
      const strings: Pattern | undefined = stringsOfSchema(schema)
      let value: Expression
      if (strings === undefined) {
        const own = part(yield* schemaGrammarInSteps(schema), `${name} ${argument}`)
        for (const [key, rule] of own.rules) rules.set(key, rule)
        value = sequence(own.expression, tag(tags.close))
      } else {
        texts.push(argument)
        value = valueBefore(strings, tags.close)
      }
      const whole = sequence(tag(tags.open + argument + tags.named), value)
      parts.push(isRequired ? whole : optional(whole))
      yield
    }
    return {expression: sequence(...parts, tag(tags.end)), rules, texts}
  },
  *read(input, texts, emit) {
    emit('{')
    for (let isFirst = true; ; isFirst = false) {
      const next = yield* input.skipOne([tags.open, tags.end])
      if (next === tags.end) {
        emit('}')
        return true
      }
      if (next === undefined) return false
      const name = yield* input.until(tags.named)
      const value = yield* input.until(tags.close)
      if (name === undefined || value === undefined) return false
      emit(`${isFirst ? '' : ', '}${JSON.stringify(name)}: ${texts.has(name) ? JSON.stringify(value) : value}`)
    }
  },
})
