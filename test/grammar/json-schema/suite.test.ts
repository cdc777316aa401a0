import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {SvcError} from '../../../src/errors/index.js'
import {type CompiledGrammar, compileGrammar, schemaGrammar} from '../../../src/grammar/index.js'
import {matches} from '../support/judge.js'

interface Group {
  description: string
  schema: unknown
  tests: readonly {description: string; data: unknown; valid: boolean}[]
}

/** A clone of github.com/json-schema-org/JSON-Schema-Test-Suite. */
const suite = process.env.SVC_TEST_JSON_SCHEMA_SUITE
/** Files about what is not enforced: formats as annotations, vocabularies of other documents. */
const skippedFiles = new Set(['format.json', 'vocabulary.json'])
/** Valid values that are not written: leap seconds depend on the offset, and names in Punycode are not regular. */
const unwritten = [/^valid leap second, .*offset$/, /^a valid date-time with a leap second, with minus offset$/]
const unwrittenGroup = 'validation of A-label (punycode) host names'

/** The texts of a value with its properties in each order, at most 500. */
function* orders(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) yield JSON.stringify(value)
  else if (Array.isArray(value))
    yield* product(
      value.map((item) => [...orders(item)]),
      (items) => `[${items}]`,
    )
  else {
    for (const keys of permutations(Object.keys(value))) {
      const pairs = keys.map((key) => {
        return [...orders((value as Record<string, unknown>)[key])].map((text) => `${JSON.stringify(key)}:${text}`)
      })
      yield* product(pairs, (each) => `{${each}}`)
    }
  }
}

function* product(
  lists: readonly string[][],
  join: (items: string[]) => string,
  chosen: string[] = [],
): Generator<string> {
  const list = lists[chosen.length]
  if (list === undefined) yield join(chosen)
  else for (const item of list) yield* product(lists, join, [...chosen, item])
}

function* permutations(names: readonly string[]): Generator<readonly string[]> {
  if (names.length <= 1 || names.length > 5) yield names
  else
    for (const name of names)
      for (const rest of permutations(names.filter((each) => each !== name))) yield [name, ...rest]
}

function isValid(compiled: CompiledGrammar | undefined, data: unknown): boolean {
  let tried = 0
  if (compiled !== undefined) {
    for (const text of orders(data)) {
      if (matches(compiled, text)) return true
      if (++tried === 500) break
    }
  }
  return false
}

/** Undefined if no value is valid; a string if the schema is refused. */
function compile(schema: unknown): CompiledGrammar | string | undefined {
  try {
    return compileGrammar(schemaGrammar(schema))
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    if (error.code === 'schema_unsatisfiable' || error.code === 'grammar_unsatisfiable') return undefined
    assert.ok(error.code === 'schema_keyword_unsupported' || error.code === 'schema_too_large', error.message)
    return error.message
  }
}

/** Schemas of earlier drafts in the suite do not name their draft. */
const dialects: Readonly<Record<string, string>> = {
  draft7: 'http://json-schema.org/draft-07/schema#',
  draft6: 'http://json-schema.org/draft-06/schema#',
  draft4: 'http://json-schema.org/draft-04/schema#',
}

const withDialect = (schema: unknown, folder: string): unknown =>
  typeof schema === 'object' && dialects[folder] !== undefined ? {$schema: dialects[folder], ...schema} : schema

const folders = ['draft2020-12', 'draft2020-12/optional/format', 'draft2019-09', 'draft7', 'draft6', 'draft4']

describe('JSON-Schema-Test-Suite', {
  skip: suite === undefined && 'set SVC_TEST_JSON_SCHEMA_SUITE to a clone of it',
}, () => {
  for (const folder of folders) {
    const files =
      suite === undefined ? [] : readdirSync(join(suite, 'tests', folder)).filter((name) => name.endsWith('.json'))
    for (const file of files.filter((name) => !skippedFiles.has(name))) {
      it(`agrees with ${folder}/${file}`, () => {
        const groups = JSON.parse(readFileSync(join(suite!, 'tests', folder, file), 'utf8')) as Group[]
        const wrong: string[] = []
        for (const {description, schema, tests} of groups) {
          const compiled = compile(withDialect(schema, folder))
          if (typeof compiled === 'string') continue
          for (const test of tests) {
            const isUnwritten = description === unwrittenGroup || unwritten.some((each) => each.test(test.description))
            if ((isUnwritten && test.valid) || isValid(compiled, test.data) === test.valid) continue
            wrong.push(`${description}: ${test.description} (valid: ${test.valid})`)
          }
        }
        assert.deepEqual(wrong, [])
      })
    }
  }
})
