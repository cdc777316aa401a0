import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {SvcError} from '../../../src/errors/index.js'
import {checkStrict} from '../../../src/grammar/index.js'

const object = (properties: Record<string, unknown>, rest: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...rest,
})

const nested = (levels: number): object => (levels === 0 ? {type: 'string'} : object({a: nested(levels - 1)}))

describe('the rules of strict mode', () => {
  it('accept objects that require all properties and allow no others', () => {
    checkStrict(
      object({
        a: {type: ['string', 'null']},
        b: {type: 'array', items: object({c: {anyOf: [{type: 'null'}, object({})]}})},
      }),
    )
    checkStrict(object({a: {$ref: '#/$defs/a'}}, {$defs: {a: object({b: {$ref: '#'}})}}))
    checkStrict(nested(10))
  })

  for (const [pointer, rule, schema] of [
    ['#/type', 'must be object', {type: 'array', items: {}}],
    ['#/anyOf', 'is not allowed at the top', object({}, {anyOf: [object({})]})],
    ['#/additionalProperties', 'must be false', {type: 'object', properties: {}}],
    ['#/properties/a/required', 'must list b', object({a: object({b: {}}, {required: []})})],
    ['#/$defs/d/items/additionalProperties', 'must be false', object({}, {$defs: {d: {items: {type: 'object'}}}})],
    ['#/properties/a/allOf', 'is not allowed', object({a: {allOf: [{}]}})],
    [`#${'/properties/a'.repeat(10)}/properties`, 'is nested more than 10 times', nested(11)],
  ] as const) {
    it(`refuse what ${rule} at ${pointer}`, () => {
      assert.throws(
        () => checkStrict(schema),
        (error: SvcError) => {
          const params = error.params as {pointer: string; rule: string}
          assert.deepEqual([error.code, params.pointer, params.rule], ['schema_not_strict', pointer, rule])
          return true
        },
      )
    })
  }
})
