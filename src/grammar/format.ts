import {SvcError} from '../errors/index.js'
import type {Grammar} from './grammar.js'
import {jsonGrammar} from './json/value.js'
import {schemaGrammarInSteps} from './json-schema/compile.js'
import {checkStrict} from './json-schema/strict.js'
import type {Steps} from './steps.js'
import {gbnfGrammarInSteps} from './syntax/gbnf.js'
import {larkGrammar} from './syntax/lark.js'
import {choiceGrammar, regexGrammar} from './syntax/regex.js'

/** What a reply must match: a JSON value, or a text. */
export type ReplyFormat = FormatContent & {
  /** The field of a request that states it, for errors. */
  field?: string
}

type FormatContent =
  /** A JSON object. */
  | {kind: 'json'}
  /** A JSON value that is valid for a JSON Schema. `strict` also refuses what OpenAI's strict mode does; default false. */
  | {kind: 'schema'; schema: unknown; strict?: boolean}
  /** A text that a regular expression of ECMA 262 matches as a whole. */
  | {kind: 'regex'; pattern: string}
  /** One of several texts. */
  | {kind: 'choice'; choices: readonly string[]}
  /** A text of a grammar. The default syntax is GBNF if the grammar contains `::=`, else Lark. */
  | {kind: 'grammar'; grammar: string; syntax?: 'gbnf' | 'lark'}

/**
 * The grammar of the replies that match a format, in steps, because a large schema takes long.
 * @throws schema_invalid, schema_keyword_unsupported, schema_too_large, schema_unsatisfiable, schema_not_strict,
 *   pattern_unsupported, grammar_invalid
 */
export function* formatGrammar(format: ReplyFormat): Steps<Grammar> {
  try {
    return yield* read(format)
  } catch (error) {
    const {field} = format
    if (field === undefined || !(error instanceof SvcError)) throw error
    const {code, params, stack} = error.toRecord()
    throw SvcError.fromRecord({code, params: {...params, field}, stack})
  }
}

function* read(format: FormatContent): Steps<Grammar> {
  switch (format.kind) {
    case 'json':
      return jsonGrammar('object')
    case 'schema':
      if (format.strict === true) checkStrict(format.schema)
      return yield* schemaGrammarInSteps(format.schema)
    case 'regex':
      return regexGrammar(format.pattern)
    case 'choice':
      return choiceGrammar(format.choices)
    case 'grammar': {
      const {grammar, syntax = grammar.includes('::=') ? 'gbnf' : 'lark'} = format
      return syntax === 'gbnf' ? yield* gbnfGrammarInSteps(grammar) : larkGrammar(grammar)
    }
  }
}
