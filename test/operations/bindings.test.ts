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

describe('an input under the names of a face', () => {
  it('is the input itself where there are none', () => {
    assert.deepEqual(bindingSchema(note, {}), note)
    assert.deepEqual(toInput({task_id: 1, text: 'x'}), {task_id: 1, text: 'x'})
  })

  it('has other names, and the members that were named stand for themselves no more', () => {
    const schema = bindingSchema(note, {renames: {id: 'task_id', says: 'text'}})
    assert.deepEqual(membersOf(schema).sort(), ['author', 'id', 'place', 'says'])
    assert.deepEqual(schema.required, ['author', 'id'])
    assert.equal(schema.additionalProperties, false)
  })

  it('brings members of members to the top', () => {
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

  it('requires a member of a member only where neither can be left out', () => {
    const required = (renames: Renames) => bindingSchema(note, {renames}).required
    assert.deepEqual(required({by: 'author.name'}), ['task_id', 'by'])
    assert.deepEqual(required({mail: 'author.mail'}), ['task_id'])
    assert.deepEqual(required({line: 'place.line'}), ['task_id', 'author'])
    assert.deepEqual(required({path: 'place.file.path'}), ['task_id', 'author'])
  })

  it('hides members, and requires some that others leave out', () => {
    const schema = bindingSchema(note, {renames: {says: 'text'}, hidden: ['place'], required: ['says']})
    assert.deepEqual(membersOf(schema), ['task_id', 'author', 'says'])
    assert.deepEqual(schema.required, ['task_id', 'author', 'says'])
    const loose = {type: 'object', properties: {a: {type: 'string'}}, additionalProperties: false}
    assert.equal(bindingSchema(loose, {}).required, undefined)
  })

  it('may change two names for each other', () => {
    const renames = {text: 'task_id', task_id: 'text'}
    assert.deepEqual(bindingSchema(note, {renames}).required, ['author', 'text'])
    assert.deepEqual(toInput({text: 1, task_id: 'x'}, renames), {task_id: 1, text: 'x'})
  })

  const faults: readonly (readonly [string, Parameters<typeof bindingSchema>[1]])[] = [
    ['a name for nothing', {renames: {id: 'taskid'}}],
    ['a name for no member of a member', {renames: {by: 'author.nick'}}],
    ['a name for a member of a text', {renames: {by: 'text.length'}}],
    ['one name for two members', {renames: {text: 'task_id'}}],
    ['a hidden member that is none', {hidden: ['nothing']}],
    ['a hidden member that is required', {hidden: ['task_id']}],
    ['a required member that is hidden', {hidden: ['text'], required: ['text']}],
    ['a required member by its old name', {renames: {says: 'text'}, required: ['text']}],
  ]
  for (const [what, names] of faults)
    it(`is a fault of the table with ${what}`, () => assert.throws(() => bindingSchema(note, names), TypeError))

  it('takes nothing from what every object has', () => {
    assert.deepEqual(toInput({constructor: 1, toString: 2}, {id: 'task_id'}), {constructor: 1, toString: 2})
    assert.throws(() => bindingSchema(note, {renames: {x: 'constructor'}}), TypeError)
  })

  it('is not made of what a member of every object brings along', () => {
    const given = JSON.parse('{"text": "x", "__proto__": {"task_id": 7}}')
    const input = toInput(given) as {task_id?: number}
    assert.equal(input.task_id, undefined)
    assert.equal(Object.getPrototypeOf(input), Object.prototype)
    assert.deepEqual(Object.keys(input), ['text', '__proto__'])
  })

  it('leaves out what was not said', () => {
    assert.deepEqual(toInput({id: 1, by: undefined, text: null}, {id: 'task_id', by: 'author.name'}), {
      task_id: 1,
      text: null,
    })
  })
})

/** What each face calls the members of an input; the daemon calls them what they are. */
const bindings = operations.flatMap(({name, input, bindings: {rpc, tool, cli}}) => {
  const all: readonly (readonly [string, BindingNames | undefined])[] = [
    ['rpc', rpc && {}],
    ['tool', tool],
    ['cli', cli?.own ? undefined : cli],
  ]
  return all.flatMap(([face, names]) => (names === undefined ? [] : [{what: `${name} by ${face}`, input, names}]))
})

describe('every face of every operation', () => {
  for (const {what, input, names} of bindings)
    it(`${what}: what its schema lets through is an input`, () => {
      const schema = bindingSchema(input, names)
      for (const how of ['least', 'full'] as const) {
        const given = sample(schema, how) as Record<string, unknown>
        assert.deepEqual(violations(schema, given), [], `${how}: ${JSON.stringify(given)}`)
        const meant = toInput(given, names.renames)
        assert.deepEqual(violations(input, meant), [], `${how}: ${JSON.stringify(meant)}`)
      }
    })

  for (const {what, names} of bindings)
    if (names.renames !== undefined)
      it(`${what}: each name stands for one place, and none for a part of another`, () => {
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
      it(`${what}: every member of ${parent} has a name, or is hidden on purpose`, () => {
        const {properties = {}} = parent
          .split('.')
          .reduce<Schema>((schema, step) => (schema.properties as Record<string, Schema>)[step] ?? {}, input)
        const told = [...Object.values(names.renames ?? {}), ...(names.hidden ?? [])]
        assert.deepEqual(
          Object.keys(properties as object).filter((name) => !told.includes(`${parent}.${name}`)),
          [],
        )
      })

  it('is many', () => assert.ok(bindings.length > 40))
})
