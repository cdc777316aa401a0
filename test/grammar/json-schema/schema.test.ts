import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {compileGrammar, jsonGrammar, schemaGrammar} from '../../../src/grammar/index.js'
import {accepted, matches} from '../support/judge.js'

/** Schemas with values that are valid, in the order of the schema, and values that are not. */
type Case = readonly [name: string, schema: unknown, valid: readonly unknown[], invalid: readonly unknown[]]

const scalars: readonly Case[] = [
  ['types', {type: ['null', 'boolean', 'integer']}, [null, true, false, 0, -12], [1.5, 'a', [], {}]],
  ['numbers with exponents', {type: 'number'}, [0, -1.5, 1e30, 1e-9], ['1', null]],
  ['a range of integers', {type: 'integer', minimum: -5, maximum: 120}, [-5, -1, 0, 9, 99, 120], [-6, 121, 1000, 0.5]],
  [
    'a range of decimals',
    {type: 'number', exclusiveMinimum: 0.25, maximum: 12.5},
    [0.26, 0.251, 0.25000000000000006, 1, 12.5],
    [0, 0.25, 12.51, 13, -1],
  ],
  ['a large exclusive bound', {type: 'integer', exclusiveMinimum: 2 ** 53}, [2 ** 53 + 2, 1e17], [2 ** 53, 1]],
  ['zero as exclusive bound', {type: 'number', exclusiveMaximum: 0}, [-0.0001, -7], [0, 1]],
  ['exclusive bounds of draft 4', {type: 'number', minimum: 3, exclusiveMinimum: true}, [3.001, 4], [3, 2]],
  ['a lower bound below zero', {type: 'number', minimum: -1.5}, [-1.5, -1, 0, 7], [-1.6, -2, -15]],
  ['an upper bound below zero', {type: 'number', exclusiveMaximum: -2}, [-2.1, -30], [-2, -1, 0, 1]],
  ['multiples of an integer', {type: 'integer', multipleOf: 7, minimum: 10}, [14, 70, 7007], [7, 0, 15, 100]],
  [
    'multiples within bounds',
    {type: 'integer', multipleOf: 6, minimum: -13, maximum: 13},
    [-12, -6, 0, 6, 12],
    [-18, 18, 3],
  ],
  ['multiples of a decimal', {type: 'number', multipleOf: 0.25}, [0.25, 1.5, 2, -0.75], [0.1, 0.3, 1.55]],
  ['cents', {type: 'number', multipleOf: 0.01, minimum: 0}, [0, 0.01, 19.99, 5], [0.001, -1, 1.999]],
  [
    'lengths in code points',
    {type: 'string', minLength: 2, maxLength: 3},
    ['ab', '😀é', 'a"b', '\n\t'],
    ['a', '😀', 'abcd'],
  ],
  ['a pattern anywhere', {type: 'string', pattern: 'b+'}, ['b', 'abbc'], ['', 'ac']],
  ['a class without one character', {type: 'string', pattern: '^[^ ]+$'}, ['ab', '"', '!'], ['a b', ' ', '']],
  ['an anchored pattern', {type: 'string', pattern: '^a(b|c)*$'}, ['a', 'abcb'], ['ba', 'ad']],
  ['anchors in alternatives', {type: 'string', pattern: '(^|,)x($|;)'}, ['x', 'a,x', 'x;b'], ['ax', 'x,', 'xx']],
  ['lookahead', {type: 'string', pattern: '^(?!.*--)(?=.*\\d)[a-z0-9-]+$'}, ['a-1', '1'], ['a--1', 'abc', '']],
  [
    'a pattern with characters that are escaped',
    {type: 'string', pattern: '^["\\\\\\n]+$'},
    ['"', '\\', '"\n'],
    ['a', ''],
  ],
  ['classes of Unicode', {type: 'string', pattern: '^\\p{Lu}\\s\\w$'}, ['É a', 'A\u00a0_'], ['é a', 'A -']],
  [
    'two patterns and a length',
    {allOf: [{pattern: '^a'}, {pattern: 'z$'}], type: 'string', maxLength: 3},
    ['az', 'abz'],
    ['a', 'abcz'],
  ],
  [
    'an enumeration',
    {enum: ['a', 1, null, true, [1, {b: 2}], {c: []}]},
    ['a', 1, null, true, [1, {b: 2}], {c: []}],
    ['b', 2, false, [1], {}],
  ],
  ['a constant', {const: {a: [null, 'x']}}, [{a: [null, 'x']}], [{a: [null]}, {}]],
  ['a constant of an enumeration', {const: 'b', enum: ['a', 'b']}, ['b'], ['a']],
  ['an enumeration with a type', {type: 'string', enum: ['a', 1, 'bb'], maxLength: 1}, ['a'], [1, 'bb']],
  ['not', {type: 'string', not: {enum: ['a', 'b']}}, ['c', '', 'ab'], ['a', 'b', 1]],
  ['not a number', {type: 'integer', not: {const: 3}}, [2, 33, -3], [3]],
]

const arrays: readonly Case[] = [
  ['items', {type: 'array', items: {type: 'boolean'}}, [[], [true], [true, false]], [[1], {}]],
  [
    'counts',
    {type: 'array', items: {type: 'null'}, minItems: 1, maxItems: 3},
    [[null], [null, null, null]],
    [[], [null, null, null, null]],
  ],
  [
    'tuples',
    {type: 'array', prefixItems: [{type: 'string'}, {type: 'null'}], items: false},
    [[], ['a'], ['a', null]],
    [[null], ['a', null, 1]],
  ],
  [
    'tuples of earlier drafts',
    {type: 'array', items: [{type: 'string'}], additionalItems: {type: 'null'}},
    [[], ['a', null]],
    [['a', 1]],
  ],
  [
    'contains',
    {type: 'array', contains: {const: 1}, minItems: 2},
    [
      [0, 1],
      [1, 2, 3],
    ],
    [[1], [0, 2]],
  ],
  [
    'counts of contains',
    {type: 'array', items: {type: 'integer'}, contains: {minimum: 5}, minContains: 1, maxContains: 2},
    [[5], [1, 9, 9]],
    [[1], [5, 6, 7]],
  ],
  [
    'keywords of later drafts, which are annotations',
    {
      $schema: 'http://json-schema.org/draft-04/schema#',
      contains: {type: 'null'},
      const: 1,
      propertyNames: {maxLength: 1},
      if: true,
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: false,
      dependentRequired: {ab: ['c']},
      prefixItems: [{type: 'null'}],
      type: ['array', 'object', 'integer'],
    },
    [[1], [], {ab: 1}, 2],
    ['a', null],
  ],
  [
    'contains of draft 7, where its counts are annotations',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'array',
      contains: {type: 'integer'},
      minContains: 0,
      maxContains: 1,
    },
    [[1], [1, 2]],
    [[], ['a']],
  ],
  [
    'different values',
    {type: 'array', items: {enum: ['a', 'b', 'c']}, uniqueItems: true, minItems: 2},
    [
      ['a', 'b'],
      ['c', 'a', 'b'],
    ],
    [['a'], ['a', 'a']],
  ],
  [
    'unevaluated items',
    {allOf: [{prefixItems: [{type: 'string'}]}], unevaluatedItems: {type: 'null'}, type: 'array'},
    [['a'], ['a', null]],
    [['a', 1]],
  ],
]

const objects: readonly Case[] = [
  [
    'optional and required properties',
    {
      type: 'object',
      properties: {a: {type: 'integer'}, b: {type: 'null'}, c: {type: 'string'}},
      required: ['b'],
      additionalProperties: false,
    },
    [{b: null}, {a: 1, b: null}, {a: 1, b: null, c: ''}, {b: null, c: 'x'}],
    [{}, {a: 1}, {b: null, d: 1}, {b: 1}, {c: '', b: null}],
  ],
  [
    'required properties that are not described',
    {type: 'object', required: ['a', 'b']},
    [
      {a: 1, b: {}},
      {a: 1, b: 2, c: 3},
    ],
    [{}, {a: 1}, {b: 2}],
  ],
  [
    'other properties with a schema',
    {type: 'object', properties: {a: {type: 'null'}}, additionalProperties: {type: 'integer'}},
    [{}, {a: null, b: 1}, {b: 1, c: 2}],
    [{b: 'x'}, {a: 1}],
  ],
  [
    'patterns of names',
    {type: 'object', patternProperties: {'^s_': {type: 'string'}, _n$: {minLength: 2}}, additionalProperties: false},
    [{s_a: 'x'}, {s_n: 'xx'}, {a_n: 1}],
    [{s_a: 1}, {s_n: 'x'}, {b: 1}],
  ],
  [
    'names',
    {type: 'object', propertyNames: {pattern: '^[a-z]+$', maxLength: 3}, additionalProperties: {type: 'null'}},
    [{}, {abc: null}],
    [{abcd: null}, {A: null}],
  ],
  [
    'fewest properties',
    {type: 'object', properties: {a: {}, b: {}, c: {}}, minProperties: 2, additionalProperties: false},
    [
      {a: 1, b: 1},
      {a: 1, c: 1},
      {a: 1, b: 1, c: 1},
    ],
    [{}, {a: 1}, {c: 1}],
  ],
  [
    'most properties',
    {type: 'object', properties: {a: {}}, maxProperties: 2},
    [{}, {a: 1, x: 1}, {x: 1, y: 1}],
    [{a: 1, x: 1, y: 1}],
  ],
  [
    'at least one property',
    {type: 'object', additionalProperties: {type: 'null'}, minProperties: 1},
    [{a: null}, {a: null, b: null}],
    [{}],
  ],
  ['a property that is forbidden', {type: 'object', properties: {a: false, b: {}}}, [{}, {b: 1}, {c: 1}], [{a: 1}]],
  [
    'unevaluated properties',
    {
      type: 'object',
      properties: {a: {}},
      anyOf: [
        {properties: {b: {const: 1}}, required: ['b']},
        {properties: {c: {}}, required: ['c']},
      ],
      unevaluatedProperties: false,
    },
    [{a: 0, b: 1}, {c: 1}, {b: 1, c: 1}],
    [{a: 0}, {b: 2, c: 1}, {c: 1, d: 1}],
  ],
  [
    'dependencies',
    {type: 'object', properties: {a: {}, b: {}}, dependentRequired: {a: ['b']}, additionalProperties: false},
    [{}, {b: 1}, {a: 1, b: 1}],
    [{a: 1}],
  ],
]

const combined: readonly Case[] = [
  [
    'anyOf next to other keywords',
    {
      type: 'object',
      properties: {k: {type: 'string'}},
      anyOf: [{required: ['k']}, {required: ['m']}],
      additionalProperties: {type: 'integer'},
    },
    [{k: 'a'}, {m: 1}, {k: 'a', m: 1}],
    [{}, {x: 1}],
  ],
  ['oneOf with disjoint alternatives', {oneOf: [{type: 'string'}, {type: 'integer'}]}, ['a', 1], [null, 1.5]],
  [
    'oneOf with alternatives that overlap',
    {
      oneOf: [
        {type: 'integer', minimum: 0},
        {type: 'integer', maximum: 10},
      ],
    },
    [-1, 11],
    [0, 5, 10],
  ],
  [
    'oneOf with required properties',
    {type: 'object', oneOf: [{required: ['a']}, {required: ['b']}], additionalProperties: {}},
    [{a: 1}, {b: 1}],
    [{}, {a: 1, b: 1}],
  ],
  [
    'if, then and else',
    {
      type: 'object',
      properties: {t: {enum: ['n', 's']}, v: {}},
      required: ['t', 'v'],
      if: {properties: {t: {const: 'n'}}},
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: {properties: {v: {type: 'number'}}},
      else: {properties: {v: {type: 'string'}}},
    },
    [
      {t: 'n', v: 1},
      {t: 's', v: 'x'},
    ],
    [
      {t: 'n', v: 'x'},
      {t: 's', v: 1},
    ],
  ],
  [
    'recursion',
    {
      $ref: '#/$defs/tree',
      $defs: {
        tree: {
          type: 'object',
          properties: {v: {type: 'integer'}, next: {$ref: '#/$defs/tree'}},
          required: ['v'],
          additionalProperties: false,
        },
      },
    },
    [{v: 1}, {v: 1, next: {v: 2}}],
    [{}, {v: 1, next: {}}],
  ],
  [
    'anchors and identifiers',
    {
      $id: 'https://example.com/a',
      items: {$ref: '#x'},
      type: 'array',
      $defs: {x: {$anchor: 'x', $ref: 'b'}, b: {$id: 'b', type: 'null'}},
    },
    [[], [null]],
    [[1]],
  ],
  [
    'references in draft 7, where siblings are ignored',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'array',
      items: {$ref: '#/definitions/n', minimum: 5},
      definitions: {n: {type: 'integer'}},
    },
    [[1]],
    [['a']],
  ],
  [
    'allOf with different orders',
    {
      allOf: [{properties: {a: {type: 'integer'}}, required: ['a']}, {properties: {b: {}, a: {minimum: 3}}}],
      type: 'object',
      additionalProperties: true,
    },
    [{a: 3, b: 1}],
    [{a: 2}, {b: 1}],
  ],
  ['nothing for unknown keywords', {type: 'integer', 'svc excluded': [1], 'svc fractional': true}, [1, 2], [0.5]],
  ['boolean schemas', {type: 'array', prefixItems: [true, false]}, [[], [1]], [[1, 2]]],
]

for (const [group, cases] of Object.entries({scalars, arrays, objects, combined})) {
  describe(`schemas of ${group}`, () => {
    for (const [name, schema, valid, invalid] of cases) {
      it(`enforce ${name}`, () => {
        assert.deepEqual(accepted(schema, [...valid, ...invalid]), valid)
      })
    }
  })
}

describe('a number with more digits than a double has', () => {
  const texts: readonly (readonly [schema: object, text: string])[] = [
    [{exclusiveMinimum: 0.25}, '0.25000000000000000001'],
    [{exclusiveMinimum: 0.30000000000000004}, '0.30000000000000005'],
    [{exclusiveMinimum: -0.25}, '-0.24999999999999999999'],
    [{exclusiveMaximum: 0.25}, '0.24999999999999999999'],
    [{exclusiveMaximum: 1}, '0.99999999999999999999'],
    [{exclusiveMinimum: 0}, `0.${'0'.repeat(330)}1`],
    [{exclusiveMaximum: 0}, `-0.${'0'.repeat(330)}1`],
    [{type: 'integer', exclusiveMinimum: 2 ** 53}, '9007199254740993'],
    [{type: 'integer', exclusiveMaximum: -(2 ** 53)}, '-9007199254740993'],
    [{not: {const: 0.1}}, '0.10000000000000000001'],
    [{not: {const: 0.1}}, '0.09999999999999999999'],
  ]
  for (const [schema, text] of texts)
    it(`is refused if it is rounded to an excluded number: ${JSON.stringify(schema)}`, () => {
      const compiled = compileGrammar(schemaGrammar({type: 'number', ...schema}))
      assert.ok(!matches(compiled, text), text.slice(0, 30))
    })

  it('is not needed for a value of an enumeration, which has no further zeros', () => {
    const compiled = compileGrammar(schemaGrammar({enum: [1, -2.5, 0]}))
    for (const text of ['1', '1.0', '-2.5', '0']) assert.ok(matches(compiled, text), text)
    for (const text of ['1.00', '-2.50', '01']) assert.ok(!matches(compiled, text), text)
  })
})

describe('JSON mode', () => {
  it('accepts any object and no other value', () => {
    const compiled = compileGrammar(jsonGrammar('object'))
    const texts = [
      '{}',
      '{"a": [1, "x", {"b": null}]}',
      '{\n  "a": 1\n}',
      '[]',
      '1',
      '{"a"}',
      '{"a":1,}',
      '{"a":\n\n1}',
    ]
    assert.deepEqual(
      texts.filter((text) => matches(compiled, text)),
      texts.slice(0, 3),
    )
  })

  it('accepts any value', () => {
    const compiled = compileGrammar(jsonGrammar('value'))
    for (const text of ['[]', '1e5', '"\\u0001"', 'null']) assert.ok(matches(compiled, text), text)
  })
})

describe('whitespace of a schema', () => {
  const schema = {
    type: 'object',
    properties: {a: {type: 'array', items: {type: 'integer'}}},
    additionalProperties: false,
  }
  const texts = ['{"a":[1,2]}', '{"a": [1, 2]}', '{\n  "a": [\n    1,\n    2\n  ]\n}', '{"a":  [1]}', '{ \n"a":[]}']

  it('has a bound', () => {
    const compiled = compileGrammar(schemaGrammar(schema))
    assert.deepEqual(
      texts.filter((text) => matches(compiled, text)),
      texts.slice(0, 3),
    )
  })

  it('can be left out', () => {
    const compiled = compileGrammar(schemaGrammar(schema, {whitespace: 'none'}))
    assert.deepEqual(
      texts.filter((text) => matches(compiled, text)),
      texts.slice(0, 1),
    )
  })
})
