import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Ajv2020} from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import {SvcError} from '../../../src/errors/index.js'
import {type CompiledGrammar, compileGrammar, schemaGrammar} from '../../../src/grammar/index.js'
import {randomSource} from '../../../src/sampling/index.js'
import {matches} from '../support/judge.js'
import {randomSchemas} from '../support/random-schema.js'

const count = 1000

/** True if a schema has a value at a pointer. */
function hasPlace(schema: unknown, pointer: string): boolean {
  const parts = decodeURI(pointer)
    .slice(1)
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  let at = schema
  for (const part of parts) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return false
    at = (at as Record<string, unknown>)[part]
  }
  return true
}

/** Compiles a schema; undefined if it is refused, with keyword and pointer or because it has no values. */
function compile(schema: unknown): CompiledGrammar | undefined {
  try {
    return compileGrammar(schemaGrammar(schema))
  } catch (error) {
    const text = JSON.stringify(schema)
    assert.ok(error instanceof SvcError, `${text}: ${error instanceof Error ? error.stack : error}`)
    if (error.code === 'schema_unsatisfiable' || error.code === 'grammar_unsatisfiable') return undefined
    const {keyword, pointer} = error.params as {keyword?: string; pointer?: string}
    assert.ok(keyword !== undefined && pointer !== undefined, `${text}: ${error.message}`)
    assert.ok(hasPlace(schema, pointer), `${text}: ${error.message}`)
    return undefined
  }
}

/** Undefined if the schema is wrong at a place that no value reaches. */
function validator(ajv: Ajv2020, schema: object | boolean): ((value: unknown) => unknown) | undefined {
  try {
    return ajv.compile(schema)
  } catch {
    return undefined
  }
}

describe('random schemas', () => {
  it('are refused with keyword and pointer, or accept valid values only', () => {
    const random = randomSchemas(randomSource(59))
    const ajv = new Ajv2020({strict: false, logger: false})
    ;(formats as unknown as (to: unknown) => void)(ajv)
    let compiledSchemas = 0
    let acceptedValues = 0
    for (let index = 0; index < count; index++) {
      const schema = random.schema(1 + (index % 3))
      const compiled = compile(schema)
      const values = Array.from({length: 20}, random.value)
      if (compiled === undefined) continue
      compiledSchemas++
      const validate = validator(ajv, schema)
      for (const value of validate === undefined ? [] : values) {
        if (!matches(compiled, JSON.stringify(value))) continue
        acceptedValues++
        assert.ok(validate!(value), `${JSON.stringify(schema)} accepts ${JSON.stringify(value)}`)
      }
    }
    assert.ok(compiledSchemas > count / 4, `${compiledSchemas} schemas were compiled.`)
    assert.ok(acceptedValues > count, `${acceptedValues} values were accepted.`)
  })
})
