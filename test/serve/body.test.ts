import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Fields} from '../../src/serve/body.js'
import {refusal} from './samples.js'

describe('Fields.ofBody', () => {
  it('requires a body', () =>
    assert.throws(() => Fields.ofBody(undefined), refusal('body_missing', 'missing request body', null)))

  for (const body of [null, [], 'text', 5, true])
    it(`rejects ${JSON.stringify(body)}`, () =>
      assert.throws(() => Fields.ofBody(body), refusal('bad_request', 'the request body must be a JSON object', null)))
})

describe('Fields', () => {
  const read: [
    keyof Fields & string,
    (fields: Fields) => unknown,
    accepted: unknown[],
    type: string,
    wrong: unknown[],
  ][] = [
    ['string', (fields) => fields.string('x'), ['', 'a'], 'string', [1, true, [], {}]],
    ['boolean', (fields) => fields.boolean('x'), [true, false], 'boolean', ['true', 0, []]],
    ['number', (fields) => fields.number('x'), [0, -1.5, 1e300], 'number', ['1', Infinity, Number.NaN, [], {}]],
    ['integer', (fields) => fields.integer('x'), [0, -1, 2 ** 60], 'integer', ['1', 1.5, Infinity, Number.NaN, true]],
    ['integers', (fields) => fields.integers('x'), [[], [1, 2]], 'list of integers', [1, ['1'], [1.5], {}]],
    ['texts', (fields) => fields.texts('x'), [[], ['a', '']], 'string or list of strings', [1, [1], ['a', null], {}]],
    ['object', (fields) => fields.object('x')?.names, [], 'object', [1, 'a', [], true]],
    ['objects', (fields) => fields.objects('x')?.length, [], 'list of objects', [1, 'a', {}]],
  ]
  for (const [kind, reader, accepted, type, wrong] of read) {
    it(`returns undefined for an absent or null ${kind}`, () => {
      assert.equal(reader(new Fields({})), undefined)
      assert.equal(reader(new Fields({x: null})), undefined)
    })
    for (const value of accepted)
      it(`accepts ${JSON.stringify(value)} as ${kind}`, () => assert.deepEqual(reader(new Fields({x: value})), value))
    for (const value of wrong)
      it(`rejects ${JSON.stringify(value) ?? value} as ${kind}`, () =>
        assert.throws(() => reader(new Fields({x: value})), refusal('bad_request', `x must be of type ${type}`, 'x')))
  }

  const bounds: [read: (fields: Fields) => unknown, x: unknown, sentence: string][] = [
    [(fields) => fields.number('x', {min: 0}), -0.1, 'x must be at least 0'],
    [(fields) => fields.number('x', {max: 2}), 2.1, 'x must be at most 2'],
    [(fields) => fields.integer('x', {min: 0, max: 20}), 21, 'x must be between 0 and 20'],
    [(fields) => fields.integers('x', {min: 0}), [1, -1], 'x must be at least 0'],
    [(fields) => fields.texts('x', {max: 1}), ['a', 'b'], 'x must have at most 1 item'],
    [(fields) => fields.texts('x', {min: 1}), [], 'x must have at least 1 item'],
    [(fields) => fields.texts('x', {maxLength: 2}), ['ab', 'abc'], 'x must have at most 2 characters each'],
    [(fields) => fields.texts('x', {maxLength: 2}), 'abc', 'x must have at most 2 characters each'],
    [(fields) => fields.objects('x', {max: 2}), [{}, {}, {}], 'x must have at most 2 items'],
  ]
  for (const [reader, x, sentence] of bounds)
    it(`reports "${sentence}"`, () =>
      assert.throws(() => reader(new Fields({x})), refusal('bad_request', sentence, 'x')))

  it('reads a single string as a list', () => assert.deepEqual(new Fields({x: 'a'}).texts('x'), ['a']))

  it('names nested fields by their path', () => {
    const body = new Fields({options: {seed: 'a'}, messages: [{}, {content: 5}]})
    const options = body.object('options', (name) => `option "${name}"`)
    assert.throws(
      () => options?.integer('seed'),
      refusal('bad_request', 'option "seed" must be of type integer', 'options.seed'),
    )
    assert.throws(
      () => body.objects('messages')?.[1]?.string('content'),
      refusal('bad_request', 'messages[1].content must be of type string', 'messages[1].content'),
    )
  })

  it('rejects other items in a list of objects', () =>
    assert.throws(
      () => new Fields({x: [{}, 5]}).objects('x'),
      refusal('bad_request', 'x[1] must be of type object', 'x[1]'),
    ))
})
