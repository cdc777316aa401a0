import {rows, usage} from '../row.js'

/** The field of a request that states what the reply must match. */
export interface InField {
  field?: string | undefined
}

/** Position of a subschema: a JSON pointer as a fragment (`#/properties/a`). */
export interface SchemaPlace extends InField {
  pointer: string
}

const fieldOf = ({field = ''}: InField) => field

/** Errors of the inputs of structured output: JSON Schema, regular expressions and grammars. */
export const schemaErrors = rows(() => ({
  schema_keyword_unsupported: usage({
    message: (p: SchemaPlace & {keyword: string; reason: string}) =>
      `The keyword ${p.keyword} at ${p.pointer} cannot be enforced: ${p.reason}.`,
    hint: (p: SchemaPlace & {keyword: string}) =>
      `Remove ${p.keyword} from the schema, and check the reply afterwards.`,
    openai: 'unsupported_value',
    param: fieldOf,
  }),
  schema_invalid: usage({
    message: (p: SchemaPlace & {keyword: string; fault: string}) =>
      `The schema is invalid: ${p.keyword} at ${p.pointer} ${p.fault}.`,
    hint: 'Correct the schema so that it follows JSON Schema 2020-12.',
    param: fieldOf,
  }),
  schema_unsatisfiable: usage({
    message: (_: InField) => 'No JSON value is valid for the schema.',
    hint: 'Remove the keywords that contradict each other.',
    param: fieldOf,
  }),
  schema_too_large: usage({
    message: (p: SchemaPlace & {keyword: string; limit: string}) =>
      `The schema is too large: ${p.keyword} at ${p.pointer} needs more than ${p.limit}.`,
    hint: 'Divide the schema into smaller ones, or remove alternatives.',
    param: fieldOf,
  }),
  schema_not_strict: usage({
    message: (p: SchemaPlace & {keyword: string; rule: string}) =>
      `The schema does not follow the rules of strict mode: ${p.keyword} at ${p.pointer} ${p.rule}.`,
    hint: 'Correct the schema, or set strict to false.',
    param: fieldOf,
  }),
  pattern_unsupported: usage({
    message: (p: InField & {pattern: string; reason: string; column: number}) =>
      `The regular expression ${p.pattern} cannot be enforced: ${p.reason} (column ${p.column}).`,
    hint: 'Write the regular expression without this construct.',
    param: fieldOf,
  }),
  grammar_invalid: usage({
    message: (p: InField & {line: number; column: number; fault: string}) =>
      `The grammar is invalid at line ${p.line}, column ${p.column}: ${p.fault}.`,
    hint: 'Correct the grammar at this place.',
    param: fieldOf,
  }),
}))
