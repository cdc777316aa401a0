import {type CompiledGrammar, compileGrammar, type SchemaOptions, schemaGrammar} from '../../../src/grammar/index.js'

/** True if a text matches a grammar. */
export function matches(compiled: CompiledGrammar, text: string): boolean {
  const matcher = compiled.matcher()
  return matcher.accept(Buffer.from(text)) && matcher.isAccepting()
}

/** Compiles a schema and returns which of the texts, or of the JSON texts of the values, match. */
export function accepted(schema: unknown, values: readonly unknown[], options?: SchemaOptions): unknown[] {
  const compiled = compileGrammar(schemaGrammar(schema, options))
  return values.filter((value) => matches(compiled, JSON.stringify(value)))
}
