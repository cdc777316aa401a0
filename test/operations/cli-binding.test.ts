import assert from 'node:assert/strict'
import {before, describe, it} from 'node:test'
import type {Command} from '@oclif/core'
import {operationArgs, operationFlags, tableFlags} from '../../src/cli/index.js'
import {loadCommands} from '../../src/cli/package.js'
import {commandCall, createCall, type Operation, operations} from '../../src/operations/index.js'
import {packagesLoadedBy} from '../support/loads.js'
import {orchWorkspace} from '../support/orch-workspace.js'
import {svc} from '../support/svc.js'
import {temporaryFolder} from '../support/temporary.js'

const bindings = operations.flatMap((operation) => {
  const {cli} = operation.bindings
  return cli === undefined ? [] : [{operation, cli, id: cli.command.replaceAll(' ', ':')}]
})

/** The visible properties of arguments or flags. */
const visible = (declared: Readonly<Record<string, object>> | undefined) =>
  Object.fromEntries(
    Object.entries(declared ?? {}).map(([name, one]) => {
      const {
        type,
        description,
        required = false,
        char,
        options,
        multiple,
        multipleNonGreedy,
        min,
        max,
        helpValue,
      } = one as Readonly<Record<string, unknown>>
      return [name, {type, description, required, char, options, multiple, multipleNonGreedy, min, max, helpValue}]
    }),
  )

describe('every command of an operation', () => {
  const loaded = new Map<string, typeof Command>()
  before(async () => {
    const {commands} = await loadCommands()
    const wanted = new Set(bindings.map(({id}) => id))
    for (const command of commands)
      if (wanted.has(command.id)) loaded.set(command.id, (await command.load()) as typeof Command)
  })

  for (const {operation, cli, id} of bindings) {
    it(`svc ${cli.command} exists`, () => assert.ok(loaded.has(id)))
    if (cli.own) continue

    it(`svc ${cli.command} has the arguments, flags and summary of ${operation.name}`, () => {
      const {args, flags, summary} = loaded.get(id) ?? {}
      const call = commandCall(operation)
      assert.deepEqual(visible(args), visible(operationArgs(call)))
      const tables = flags?.columns === undefined ? {} : tableFlags
      assert.deepEqual(visible(flags), visible({...operationFlags(call), ...tables}))
      assert.equal(summary, operation.summary)
    })

    it(`svc ${cli.command} describes each argument and flag`, () => {
      const call = commandCall(operation)
      for (const [name, {description = ''}] of Object.entries({...operationArgs(call), ...operationFlags(call)}))
        assert.match(description, /^[A-Za-z][^\n]*\.( \(default: [^\n]+\))?$/, name)
    })
  }
})

/** An operation with input members of every kind. */
const every: Operation = {
  name: 'every',
  title: 'Every',
  summary: 'Every kind of member.',
  effect: 'read',
  idempotent: true,
  input: {
    type: 'object',
    properties: {
      task_id: {type: 'integer', minimum: 1},
      parent_task_id: {type: 'integer', minimum: 1, description: 'Its parent.'},
      agent_id: {type: ['integer', 'string'], description: 'The agent.'},
      session_id: {type: 'string', description: 'Its session.'},
      notes: {type: ['object', 'null'], properties: {long_text: {type: 'string', description: 'A text.'}}},
      limit: {type: 'integer', minimum: 1, maximum: 9, default: 5, description: 'At most so many.'},
      level: {enum: ['low', 'high'], description: 'How much.'},
      labels: {type: 'array', items: {type: 'string'}, description: 'Labels; default: none.'},
      levels: {type: 'array', items: {enum: ['low', 'high']}, description: 'Levels.'},
      again: {type: 'boolean', description: 'Once more.'},
      internal: {type: 'object'},
    },
    required: ['task_id', 'level'],
  },
  output: {type: 'object'},
  bindings: {
    cli: {
      command: 'every',
      renames: {id: 'task_id', parent: 'parent_task_id', agent: 'agent_id', says: 'notes.long_text', label: 'labels'},
      args: ['id', 'agent'],
      hidden: ['internal'],
      required: ['label'],
      piped: ['says'],
      chars: {again: 'a'},
      placeholders: {session_id: 'ID'},
    },
  },
  run: () => ({}),
}

describe('arguments and flags derived from an input', () => {
  const of = (operation: Operation) => commandCall(operation)
  const args = operationArgs(of(every)) as Readonly<Record<string, object>>
  const flags = operationFlags(of(every)) as Readonly<Record<string, object>>

  it('have the names of the command, in the order of the input', () => {
    assert.deepEqual(Object.keys(args), ['id', 'agent'])
    assert.deepEqual(Object.keys(flags), ['session-id', 'limit', 'level', 'levels', 'again', 'parent', 'says', 'label'])
  })

  for (const [name, is] of Object.entries({
    'session-id': {type: 'option', helpValue: 'ID', description: 'Its session.', required: false},
    limit: {type: 'option', min: 1, max: 9, helpValue: 'N', description: 'At most so many. (default: 5)'},
    level: {type: 'option', options: ['low', 'high'], required: true, helpValue: undefined},
    levels: {type: 'option', options: ['low', 'high'], multiple: true, multipleNonGreedy: true},
    again: {type: 'boolean', char: 'a'},
    parent: {type: 'option', helpValue: 'ID'},
    says: {type: 'option', helpValue: 'TEXT', description: 'A text; - reads standard input.'},
    label: {
      multiple: true,
      required: true,
      helpValue: 'LABEL',
      description: 'Labels; may be repeated. (default: none)',
    },
  }))
    it(`have the type of their member: --${name}`, () => {
      const flag = flags[name] as Readonly<Record<string, unknown>>
      for (const [key, value] of Object.entries(is)) assert.deepEqual(flag[key], value, key)
    })

  it('cannot represent objects, numbers or nulls', () => {
    for (const type of ['object', 'number', 'null'] as const) {
      const input = {type: 'object', properties: {it: {type}}}
      const bare = {...every, input, bindings: {cli: {command: 'bare'}}}
      assert.throws(() => operationFlags(of(bare)), TypeError, type)
      assert.throws(() => operationArgs(of({...bare, bindings: {cli: {command: 'bare', args: ['it']}}})), TypeError)
    }
    const nested = {type: 'object', properties: {it: {type: 'array', items: {type: 'object'}}}}
    assert.throws(() => operationFlags(of({...every, input: nested, bindings: {cli: {command: 'bare'}}})), TypeError)
  })

  it('are empty if the operation has no command', () => {
    const call = createCall({...every, input: {type: 'object'}, bindings: {}}, 'every')
    assert.deepEqual([operationArgs(call), operationFlags(call)], [{}, {}])
  })
})

describe('svc orch', {concurrency: 2}, () => {
  it('passes arguments and flags to the operation', async (t) => {
    const {submit, text, task, json, agents} = await orchWorkspace(t, '[orchestrator]\nmin_agents = 0\n')
    await text(['orch', 'agent', 'spawn', 'anna', '--reason', '- but why?', '--label', 'a', '--label', 'b'])
    const [anna] = await agents()
    assert.deepEqual([anna?.spawn_reason, anna?.capabilities.labels], ['- but why?', ['a', 'b']])
    await submit('x', '--processor', 'external')
    await text(['orch', 'claim', '--as', 'me'])
    await json('cli/orch-task.v1', ['orch', 'complete', '1', '--claim', '1', '--summary', '-'], {input: ''})
    assert.deepEqual((await task(1)).result, {text: ''})
  })

  it('reads standard input only for piped members', async (t) => {
    const {submit, text, task} = await orchWorkspace(t)
    await submit('x')
    await text(['orch', 'cancel', 'T-0001', '-r', '-'], {input: 'not this'})
    assert.equal((await task(1)).status_reason, '-')
  })

  it('accepts texts that exceed the length limits of the schema', async (t) => {
    const {submit, text, task} = await orchWorkspace(t)
    await submit('x', '--processor', 'external')
    await text(['orch', 'claim'])
    const report = 'a line of a long report\n'.repeat(10_000)
    await text(['orch', 'complete', '1', '--claim', '1', '--summary', '-'], {input: report})
    assert.equal((await task(1)).result?.text, report.trimEnd())
  })

  it('shows the descriptions of the members in its help', async () => {
    const {stdout} = await svc(['orch', 'fail', '--help'])
    for (const words of [
      'ID',
      'Task id: 42 or T-0042.',
      '-r, --reason=TEXT',
      '(required) Reason for the failure.',
      '--claim=N',
    ])
      assert.ok(stdout.includes(words), `${words} in ${stdout}`)
  })

  for (const [args, needed] of [
    [['complete', '--help'], []],
    [['agent', 'spawn', '--help'], []],
    [['agents'], ['better-sqlite3']],
    [['agent', 'spawn', 'anna'], ['better-sqlite3']],
  ] as const)
    it(`${args.join(' ')} loads ${needed.join(' and ') || 'nothing heavy'}`, async (t) => {
      const cwd = await temporaryFolder(t)
      const packages = await packagesLoadedBy(cwd, async (env) => {
        const {exitCode, stderr} = await svc(['orch', ...args], {cwd, env})
        assert.equal(exitCode, 0, stderr)
      })
      assert.ok(packages.has('@oclif/core'), 'the list is not empty')
      assert.deepEqual(
        ['better-sqlite3', 'ajv', 'pino', 'undici', 'execa', 'yaml', 'fastify'].filter((name) => packages.has(name)),
        needed,
      )
    })
})
