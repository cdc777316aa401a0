import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {SvcError} from '../../../src/errors/index.js'
import {compileGrammar, schemaGrammar} from '../../../src/grammar/index.js'

const refused = (schema: unknown): {code: string; keyword?: string; pointer?: string} => {
  try {
    compileGrammar(schemaGrammar(schema))
  } catch (error) {
    assert.ok(error instanceof SvcError, String(error))
    return {code: error.code, ...(error.params as object)}
  }
  throw new assert.AssertionError({message: 'The schema was compiled.'})
}

/** Keyword, pointer and schema. */
const unsupported: readonly (readonly [keyword: string, pointer: string, schema: unknown])[] = [
  ['uniqueItems', '#/properties/a/uniqueItems', {properties: {a: {type: 'array', uniqueItems: true}}}],
  ['pattern', '#/items/pattern', {items: {type: 'string', pattern: '(a)\\1'}}],
  ['pattern', '#/pattern', {type: 'string', pattern: '\\bword'}],
  ['pattern', '#/pattern', {type: 'string', pattern: '(?<=a)b'}],
  ['pattern', '#/pattern', {type: 'string', pattern: '(unclosed'}],
  ['pattern', '#/pattern', {type: 'string', pattern: '(?i:^a)'}],
  ['format', '#/format', {type: 'string', format: 'regex'}],
  ['format', '#/not/format', {type: 'string', not: {format: 'regex'}}],
  ['$schema', '#/$schema', {$schema: 'http://json-schema.org/draft-03/schema#'}],
  ['$schema', '#/$schema', {$schema: 'https://json-schema.org/draft/next/schema'}],
  [
    '$schema',
    '#/$defs/a/$schema',
    {$defs: {a: {$id: 'https://example.com/a', $schema: 'http://json-schema.org/draft-03/schema#'}}},
  ],
  ['minProperties', '#/minProperties', {type: 'object', minProperties: 2}],
  ['$ref', '#/properties/a/$ref', {properties: {a: {$ref: 'https://example.com/other.json'}}}],
  ['$ref', '#/anyOf/1/$ref', {anyOf: [{type: 'null'}, {$ref: '#/anyOf/1'}], type: 'null'}],
  ['additionalProperties', '#/not/additionalProperties', {not: {additionalProperties: {type: 'string'}}}],
  ['items', '#/not/items', {type: 'array', contains: {type: 'null'}, not: {items: {type: 'string'}}}],
  ['unevaluatedItems', '#/unevaluatedItems', {type: 'array', contains: {type: 'null'}, unevaluatedItems: false}],
  [
    '$dynamicRef',
    '#/items/$dynamicRef',
    {items: {$dynamicRef: '#a'}, $defs: {x: {$dynamicAnchor: 'a'}, y: {$dynamicAnchor: 'a'}}},
  ],
]

describe('a schema that cannot be enforced', () => {
  for (const [keyword, pointer, schema] of unsupported) {
    it(`is refused with ${keyword} at ${pointer}`, () => {
      const found = refused(schema)
      assert.deepEqual([found.code, found.keyword, found.pointer], ['schema_keyword_unsupported', keyword, pointer])
    })
  }
})

describe('a schema whose alternatives would take long', () => {
  it('is refused with the keyword that adds the alternatives', () => {
    const conditions = Array.from({length: 300}, (_, i) => ({
      if: {properties: {type: {const: `type ${i}`}}},
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: {properties: {value: {properties: {[`name ${i}`]: {type: 'string'}}}}},
    }))
    const {code, keyword, pointer} = refused({type: 'object', allOf: conditions})
    assert.deepEqual([code, keyword], ['schema_too_large', 'properties'])
    assert.match(pointer!, /^#\/allOf\/\d+\/if\/properties$/)
  })
})

describe('an invalid schema', () => {
  const cases: readonly (readonly [string, string, unknown])[] = [
    ['minLength', '#/minLength', {minLength: -1}],
    ['required', '#/properties/a~1b/required', {properties: {'a/b': {required: true}}}],
    ['type', '#/type', {type: 'text'}],
    ['properties', '#/properties', {properties: []}],
    ['anyOf', '#/anyOf', {anyOf: []}],
    ['multipleOf', '#/multipleOf', {multipleOf: 0}],
    ['$ref', '#/$ref', {$ref: '#/$defs/missing'}],
    ['items', '#/items', {prefixItems: [true], items: [true]}],
    ['const', '#/const', JSON.parse('{"const": 1e400}')],
    ['const', '#/not/const', JSON.parse('{"not": {"const": 1e400}}')],
    ['enum', '#/enum', JSON.parse('{"enum": [1, {"a": [-1e400]}]}')],
    ['minimum', '#/minimum', JSON.parse('{"minimum": 1e400}')],
    ['const', '#/const', {const: 'a\ud800'}],
    ['enum', '#/enum', {enum: [{'\udc00': 1}]}],
    ['required', '#/required', {required: ['\ud800']}],
    ['properties', '#/properties', {properties: {'\ud800': {type: 'null'}}}],
    ['dependentRequired', '#/dependentRequired', {dependentRequired: {a: ['\ud800']}}],
  ]
  for (const [keyword, pointer, schema] of cases) {
    it(`is refused with ${keyword} at ${pointer}`, () => {
      const found = refused(schema)
      assert.deepEqual([found.code, found.keyword, found.pointer], ['schema_invalid', keyword, pointer])
    })
  }

  it('is anything but an object or a boolean', () => {
    assert.equal(refused('schema').code, 'schema_invalid')
  })
})

describe('a schema without values', () => {
  for (const schema of [
    false,
    {type: 'string', minLength: 3, maxLength: 2},
    {const: 1, type: 'string'},
    {const: 'b', enum: ['a']},
    {const: {a: 1}, enum: [{a: 2}, 3]},
    {allOf: [{type: 'null'}, {type: 'array'}]},
  ]) {
    it(`is refused: ${JSON.stringify(schema)}`, () => {
      assert.equal(refused(schema).code, 'schema_unsatisfiable')
    })
  }

  it('is refused if each value would contain another one', () => {
    assert.equal(refused({type: 'object', properties: {a: {$ref: '#'}}, required: ['a']}).code, 'grammar_unsatisfiable')
  })
})

describe('limits of schemas', () => {
  it('refuse deep schemas', () => {
    let schema: object = {type: 'null'}
    for (let depth = 0; depth < 5000; depth++) schema = {items: schema}
    assert.equal(refused(schema).code, 'schema_too_large')
  })

  it('refuse many states of counted properties', () => {
    const properties = Object.fromEntries(Array.from({length: 10}, (_, index) => [`p${index}`, {}]))
    const found = refused({type: 'object', minProperties: 0, maxProperties: 5000, properties})
    assert.deepEqual([found.code, found.pointer], ['schema_too_large', '#/maxProperties'])
  })

  it('refuse long enumerations', () => {
    const found = refused({items: {enum: Array.from({length: 20_000}, (_, index) => `value ${index}`)}})
    assert.deepEqual([found.code, found.pointer], ['schema_too_large', '#/items/enum'])
  })

  it('refuse many alternatives at the same value', () => {
    const choice = (index: number) => ({anyOf: [{required: [`a${index}`]}, {required: [`b${index}`]}]})
    const found = refused({type: 'object', allOf: Array.from({length: 20}, (_, index) => choice(index))})
    assert.deepEqual([found.code, found.keyword], ['schema_too_large', 'anyOf'])
  })

  it('refuse many combinations of patterns', () => {
    const choice = (index: number) => ({anyOf: ['a', 'b', 'c'].map((letter) => ({pattern: `${letter}${index}`}))})
    const found = refused({type: 'string', allOf: Array.from({length: 5}, (_, index) => choice(index))})
    assert.deepEqual([found.code, found.keyword], ['schema_too_large', 'pattern'])
  })
})
