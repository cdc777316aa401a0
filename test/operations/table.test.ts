import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {describe, it} from 'node:test'
import {compileSchema, type Schema} from '../../src/contracts/index.js'
import {
  bindingSchema,
  createCall,
  daemonMethods,
  daemonNotifications,
  listedSchema,
  operationNamed,
  operations,
  type ToolBinding,
} from '../../src/operations/index.js'
import {projectFile} from '../support/project.js'

const tools = operations.flatMap(({bindings: {tool}}) => (tool === undefined ? [] : [tool]))
const methods = operations.flatMap(({bindings: {rpc}}) => (rpc === undefined ? [] : [rpc]))
const commands = operations.flatMap(({bindings: {cli}}) => (cli === undefined ? [] : [cli]))

/** Verbs of operations that change something. */
const changing =
  /(^|_)(submit|complete|fail|cancel|retry|reorder|approve|claim|renew|doubt|resolve|overrule|spawn|pause|resume|drain|retire|rebalance|send|broadcast|ack|undo|redo|reload|set|create|delete|remove|write|execute|replan)(_|$)/
/** Names of operations that only read. */
const reading = /^(list|get|show|read|find|describe)_|_(status|history|ids|list)$/

describe('the table of operations', () => {
  for (const [what, names] of [
    ['name', operations.map(({name}) => name)],
    ['title', operations.map(({title}) => title)],
    ['tool', tools.map(({name}) => name)],
    ['command', commands.map(({command}) => command)],
    [
      'method',
      [...methods, ...daemonMethods, ...daemonNotifications].flatMap(
        ({method, aliases = []}: {method: string; aliases?: readonly string[]}) => [method, ...aliases],
      ),
    ],
  ] as const)
    it(`has unique ${what}s`, () => {
      assert.ok(names.length > 0)
      assert.deepEqual(
        names.filter((name, i) => names.indexOf(name) !== i),
        [],
      )
    })

  it('spells names as usual for their binding', () => {
    for (const {name} of operations) assert.match(name, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
    for (const {name} of tools) assert.match(name, /^svc_[a-z0-9]+(_[a-z0-9]+)*$/)
    // Those of the Model Context Protocol have a slash.
    for (const {method} of methods) assert.match(method, /^[a-z]+((\.[a-z0-9_]+)+|\/[a-z]+)$/)
    for (const {command} of commands) assert.match(command, /^[a-z0-9]+( [a-z-]+)+$/)
  })

  it('imports no domain modules, since every command derives its flags from it', () => {
    const modules = projectFile('src/operations')
    const files = new Set(['index.ts'])
    const loaded = new Set<string>()
    for (const file of files) {
      const source = readFileSync(join(modules, file), 'utf8')
      for (const [, from = ''] of source.matchAll(/^(?:import|export) (?!type )[^;]*? from '([^']+)'$/gm)) {
        const isOutside = /(^|\/)\.\.\/[a-z-]+\/index\.js$/.test(from) || !from.startsWith('.')
        if (isOutside) loaded.add(from)
        else files.add(join(dirname(file), from.replace(/\.js$/, '.ts')))
      }
    }
    assert.deepEqual([...loaded].sort(), [
      '../../contracts/index.js',
      '../../errors/index.js',
      '../contracts/index.js',
      '../errors/index.js',
    ])
  })

  it('finds operations by name and rejects unknown names', () => {
    for (const each of operations) assert.equal(operationNamed(each.name), each)
    assert.throws(() => operationNamed('submit_tusk'), TypeError)
    assert.throws(() => operationNamed('constructor'), TypeError)
  })
})

describe('every operation', () => {
  for (const {name, title, summary, effect, idempotent, input, output, bindings} of operations) {
    it(`${name} is described in one sentence`, () => {
      assert.match(summary, /^[A-Z][^\n]*[^.\s]\.$/)
      assert.doesNotMatch(summary, /[.!?] [A-Z]/, 'one sentence')
      assert.match(title, /^[A-Z][^\n.]*$/)
      assert.ok(summary.length <= 120, `${summary.length} characters are too long`)
    })

    it(`${name} has a binding, and objects as input and output`, () => {
      assert.ok(Object.values(bindings).some((binding) => binding !== undefined))
      assert.deepEqual([input.type, output.type], ['object', 'object'])
    })

    it(`${name} has schemas that compile strictly`, async () => {
      for (const [what, schema] of Object.entries({
        input,
        output,
        ...(bindings.tool?.output && {tool: bindings.tool.output}),
      })) {
        await compileSchema(schema, `${name}.${what}`)
        assert.deepEqual(
          Object.keys(schema).filter((key) => key.startsWith('$') && key !== '$defs'),
          [],
          what,
        )
      }
    })

    it(`${name} has an effect that matches its name`, () => {
      if (effect === 'read') {
        assert.doesNotMatch(name, changing)
        assert.ok(idempotent, 'reading can be repeated')
      } else assert.doesNotMatch(name, reading)
    })
  }

  it('that deletes something permanently is destructive', () => {
    const effects = Object.fromEntries(operations.map(({name, effect}) => [name, effect]))
    assert.deepEqual([effects.cancel_task, effects.retire_agent], ['destructive', 'destructive'])
  })
})

describe('the schema of a tool in the list for models', () => {
  const listed = (schema: Schema, unlisted?: readonly string[]) => JSON.stringify(listedSchema(schema, unlisted))

  it('is short, even for the tool with most parameters', () => {
    const {input, output, summary, bindings} = operationNamed('submit_task')
    const {name = '', ...names}: Partial<ToolBinding> = bindings.tool ?? {}
    const text = [name, summary, listed(bindingSchema(input, names), names.unlisted), listed(output)].join()
    // A token is slightly more than three characters of JSON.
    assert.ok(text.length < 2400, String(text.length))
  })

  it('omits length limits, which are still checked', async () => {
    const {input, bindings} = operationNamed('submit_task')
    assert.match(JSON.stringify(input), /"maxLength"/)
    for (const {input: each} of operations) assert.doesNotMatch(listed(each), /"(max|min)(Length|Items)":/)
    const {schema} = createCall(operationNamed('submit_task'), 'svc_submit_task', bindings.tool)
    const check = await compileSchema(schema, 'submit')
    assert.deepEqual(check({description: ''}), ['/description must NOT have fewer than 1 characters'])
  })

  it('keeps all other constraints except additionalProperties: false', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'urn:x',
      title: 'X',
      description: 'A document.',
      type: 'object',
      required: ['maxLength'],
      properties: {
        maxLength: {type: 'string', maxLength: 3, description: 'A member.'},
        some: {
          type: 'array',
          maxItems: 2,
          items: {
            anyOf: [
              {type: 'string', minLength: 1},
              {type: 'integer', minimum: 3},
            ],
          },
        },
        more: {type: 'object', additionalProperties: {type: 'string', maxLength: 1}},
      },
      additionalProperties: false,
    }
    assert.deepEqual(listedSchema(schema), {
      type: 'object',
      required: ['maxLength'],
      properties: {
        maxLength: {type: 'string', description: 'A member.'},
        some: {type: 'array', items: {anyOf: [{type: 'string'}, {type: 'integer', minimum: 3}]}},
        more: {type: 'object', additionalProperties: {type: 'string'}},
      },
    })
  })
})
