import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {Schema} from '../../src/contracts/index.js'
import {type BindingNames, bindingSchema, operations, type Renames, toInput} from '../../src/operations/index.js'
import {sample} from './support/sample.js'
import {violations} from './support/violations.js'

const note: Schema = {
  type: 'object',
  properties: {
    task_id: {type: 'integer'},
    text: {type: 'string'},
    author: {
      type: 'object',
      properties: {name: {type: 'string'}, mail: {type: 'string'}},
      required: ['name'],
      additionalProperties: false,
    },
    place: {
      type: ['object', 'null'],
      properties: {
        line: {type: 'integer'},
        file: {type: 'object', properties: {path: {type: 'string'}}, required: ['path']},
      },
      required: ['line', 'file'],
    },
  },
  required: ['task_id', 'author'],
  additionalProperties: false,
}

const membersOf = (schema: Schema): string[] => Object.keys(schema.properties as object)

describe('bindingSchema and toInput', () => {
  it('leave the input unchanged without names', () => {
    assert.deepEqual(bindingSchema(note, {}), note)
    assert.deepEqual(toInput({task_id: 1, text: 'x'}), {task_id: 1, text: 'x'})
  })

  it('rename members', () => {
    const schema = bindingSchema(note, {renames: {id: 'task_id', says: 'text'}})
    assert.deepEqual(membersOf(schema).sort(), ['author', 'id', 'place', 'says'])
    assert.deepEqual(schema.required, ['author', 'id'])
    assert.equal(schema.additionalProperties, false)
  })

  it('flatten nested members', () => {
    const renames = {id: 'task_id', by: 'author.name', path: 'place.file.path'}
    const schema = bindingSchema(note, {renames})
    assert.deepEqual(membersOf(schema), ['text', 'id', 'by', 'path'])
    assert.deepEqual(schema.properties, {
      text: {type: 'string'},
      id: {type: 'integer'},
      by: {type: 'string'},
      path: {type: 'string'},
    })
    assert.deepEqual(toInput({id: 4, by: 'anna', path: 'a.ts', text: 'x'}, renames), {
      task_id: 4,
      author: {name: 'anna'},
      place: {file: {path: 'a.ts'}},
      text: 'x',
    })
  })

  it('require a nested member only if it and its parents are required', () => {
    const required = (renames: Renames) => bindingSchema(note, {renames}).required
    assert.deepEqual(required({by: 'author.name'}), ['task_id', 'by'])
    assert.deepEqual(required({mail: 'author.mail'}), ['task_id'])
    assert.deepEqual(required({line: 'place.line'}), ['task_id', 'author'])
    assert.deepEqual(required({path: 'place.file.path'}), ['task_id', 'author'])
  })

  it('hide members, and require optional ones', () => {
    const schema = bindingSchema(note, {renames: {says: 'text'}, hidden: ['place'], required: ['says']})
    assert.deepEqual(membersOf(schema), ['task_id', 'author', 'says'])
    assert.deepEqual(schema.required, ['task_id', 'author', 'says'])
    const loose = {type: 'object', properties: {a: {type: 'string'}}, additionalProperties: false}
    assert.equal(bindingSchema(loose, {}).required, undefined)
  })

  it('can swap two names', () => {
    const renames = {text: 'task_id', task_id: 'text'}
    assert.deepEqual(bindingSchema(note, {renames}).required, ['author', 'text'])
    assert.deepEqual(toInput({text: 1, task_id: 'x'}, renames), {task_id: 1, text: 'x'})
  })

  const invalid: readonly (readonly [string, Parameters<typeof bindingSchema>[1]])[] = [
    ['a name for an unknown member', {renames: {id: 'taskid'}}],
    ['a name for an unknown nested member', {renames: {by: 'author.nick'}}],
    ['a name for a member of a string', {renames: {by: 'text.length'}}],
    ['one name for two members', {renames: {text: 'task_id'}}],
    ['a hidden member that does not exist', {hidden: ['nothing']}],
    ['a hidden member that is required', {hidden: ['task_id']}],
    ['a required member that is hidden', {hidden: ['text'], required: ['text']}],
    ['a required member by its old name', {renames: {says: 'text'}, required: ['text']}],
  ]
  for (const [what, names] of invalid)
    it(`reject ${what}`, () => assert.throws(() => bindingSchema(note, names), TypeError))

  it('ignore properties inherited from Object', () => {
    assert.deepEqual(toInput({constructor: 1, toString: 2}, {id: 'task_id'}), {constructor: 1, toString: 2})
    assert.throws(() => bindingSchema(note, {renames: {x: 'constructor'}}), TypeError)
  })

  it('do not set a prototype from a __proto__ member', () => {
    const params = JSON.parse('{"text": "x", "__proto__": {"task_id": 7}}')
    const input = toInput(params) as {task_id?: number}
    assert.equal(input.task_id, undefined)
    assert.equal(Object.getPrototypeOf(input), Object.prototype)
    assert.deepEqual(Object.keys(input), ['text', '__proto__'])
  })

  it('omit undefined members, but not null ones', () => {
    assert.deepEqual(toInput({id: 1, by: undefined, text: null}, {id: 'task_id', by: 'author.name'}), {
      task_id: 1,
      text: null,
    })
  })
})

/** Names of the input members in each binding; the daemon uses the original names. */
const bindings = operations.flatMap(({name, input, bindings: {rpc, tool, cli}}) => {
  const all: readonly (readonly [string, BindingNames | undefined])[] = [
    ['rpc', rpc && {}],
    ['tool', tool],
    ['cli', cli?.own ? undefined : cli],
  ]
  return all.flatMap(([kind, names]) => (names === undefined ? [] : [{what: `${name} by ${kind}`, input, names}]))
})

describe('every binding of every operation', () => {
  for (const {what, input, names} of bindings)
    it(`${what}: parameters that match its schema yield a valid input`, () => {
      const schema = bindingSchema(input, names)
      for (const how of ['least', 'full'] as const) {
        const params = sample(schema, how) as Record<string, unknown>
        assert.deepEqual(violations(schema, params), [], `${how}: ${JSON.stringify(params)}`)
        const converted = toInput(params, names.renames)
        assert.deepEqual(violations(input, converted), [], `${how}: ${JSON.stringify(converted)}`)
      }
    })

  for (const {what, names} of bindings)
    if (names.renames !== undefined)
      it(`${what}: names refer to distinct members that do not contain each other`, () => {
        const paths = Object.values(names.renames ?? {})
        for (const [i, path] of paths.entries())
          for (const [j, other] of paths.entries())
            if (i !== j) assert.ok(path !== other && !path.startsWith(`${other}.`), `${path} and ${other}`)
      })

  for (const {what, input, names} of bindings)
    for (const parent of new Set(
      Object.values(names.renames ?? {}).flatMap((path) =>
        path.includes('.') ? [path.slice(0, path.lastIndexOf('.'))] : [],
      ),
    ))
      it(`${what}: every member of ${parent} is named or hidden`, () => {
        const {properties = {}} = parent
          .split('.')
          .reduce<Schema>((schema, step) => (schema.properties as Record<string, Schema>)[step] ?? {}, input)
        const covered = [...Object.values(names.renames ?? {}), ...(names.hidden ?? [])]
        assert.deepEqual(
          Object.keys(properties as object).filter((name) => !covered.includes(`${parent}.${name}`)),
          [],
        )
      })

  it('is tested: there are more than 40', () => assert.ok(bindings.length > 40))
})
