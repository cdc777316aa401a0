import {rows, usage} from '../row.js'

/** Errors of grammars and of the schemas they are made from. */
export const grammarErrors = rows(() => ({
  grammar_limit: usage({
    message: (p: {what: string; limit: number}) =>
      `The grammar is too complex: it needs more than ${p.limit} ${p.what}.`,
    hint: 'Use a smaller schema or grammar, with fewer alternatives, nested parts and combined conditions.',
  }),
  grammar_unsatisfiable: usage({
    message: (_: object) => 'No text can match the grammar.',
    hint: 'Check for conditions that exclude each other, and for rules that never end.',
  }),
}))
