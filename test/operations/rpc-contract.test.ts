import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {contractSchema, contractViolations, type Schema} from '../../src/contracts/index.js'
import {createCall, daemonMethods, daemonProtocol, operations} from '../../src/operations/index.js'
import {projectFile} from '../support/project.js'
import {generatedFiles} from './generated-files.js'
import {jsonText} from './json-text.js'
import {rpcContract, rpcMethods} from './rpc-contract.js'
import {ref} from './rpc-envelopes.js'
import {life} from './support/life.js'
import {openContext} from './support/open-context.js'
import {sample} from './support/sample.js'
import {violations} from './support/violations.js'

const id = 'orchestration/orch-daemon-rpc-methods'
const contract = rpcContract()
const definitions = contract.$defs as Readonly<Record<string, Schema>>

/** A definition of the contract, with all definitions that it can refer to. */
const part = (name: string): Schema => ({...ref(name), $defs: definitions})
const parts = new Map(Object.keys(definitions).map((name) => [name, part(name)]))
const enumerated = (name: string): string[] => [definitions[name]?.enum ?? []].flat() as string[]
const violationsOf = (name: string, value: unknown) => violations(parts.get(name) ?? {not: {}}, value)
const line = (value: unknown) => contractViolations(id, JSON.parse(JSON.stringify(value)))

describe('the files generated from the table of operations', () => {
  for (const [path, text] of Object.entries(generatedFiles()))
    it(`${path} is up to date (npm run contracts)`, async () => {
      assert.ok((await readFile(projectFile(path), 'utf8')) === text, `${path} is stale: npm run contracts`)
    })

  it('list every operation and every binding', () => {
    const page = generatedFiles()['contracts/orchestration/operations.md'] ?? ''
    for (const {name, bindings} of operations) {
      const row = page.split('\n').find((each) => each.startsWith(`| \`${name}\` |`)) ?? ''
      for (const binding of [bindings.rpc?.method, bindings.tool?.name, bindings.cli && `svc ${bindings.cli.command}`])
        if (binding !== undefined) assert.ok(row.includes(`\`${binding}\``), `${binding} in ${row}`)
    }
    for (const {method} of daemonMethods) assert.ok(page.includes(`\`${method}\``), method)
    assert.doesNotMatch(page, /undefined|\[object/)
  })

  it('are formatted with short values on one line', () => {
    const long = 'x'.repeat(100)
    const value = {a: [1, 'b', null, true], [long]: {short: {}, list: [long, []]}, empty: []}
    const text = jsonText(value)
    assert.deepEqual(JSON.parse(text), value)
    assert.equal(
      text,
      `{\n  "a": [1, "b", null, true],\n  "${long}": {\n    "short": {},\n    "list": ["${long}", []]\n  },\n  "empty": []\n}\n`,
    )
    const filled = 'y'.repeat(109)
    assert.equal(jsonText({a: [filled]}).split('\n').length, 2)
    assert.equal(jsonText({a: [`${filled}y`]}).split('\n').length, 6)
  })
})

describe('the contract of the daemon', () => {
  it('enumerates the methods and their aliases by family', () => {
    const all = [...enumerated('OrchMethod'), ...enumerated('AiMethod'), ...enumerated('OtherMethod')]
    assert.deepEqual(all.sort(), rpcMethods.flatMap(({method, aliases}) => [method, ...aliases]).sort())
    for (const name of enumerated('OrchMethod')) assert.match(name, /^orch\./)
    for (const name of enumerated('AiMethod')) assert.match(name, /^ai\./)
    assert.ok(enumerated('OtherMethod').includes('ping'))
  })

  for (const name of [
    'ping',
    'status',
    'task_status',
    'spawn_agent',
    'spawn_agent_ext',
    'agent_ids',
    'submit_task',
    'complete_task',
    'fail_task',
    'cancel_task',
    'reorder_task',
    'drain_agent',
    'rebalance',
    'retire_agent',
    'pause_agent',
    'resume_agent',
    'workspace_journey',
    'reload_config',
    'undo_operation',
    'redo_operation',
    'get_task',
    'resolve_doubt',
    'events.subscribe',
  ])
    it(`includes orch.${name}, which clients depend on`, () => {
      assert.ok(enumerated('OrchMethod').includes(`orch.${name}`))
    })

  for (const name of ['new', 'replan', 'status', 'execute'])
    it(`includes ai.plan.${name}, which clients depend on`, () => {
      assert.ok(enumerated('AiMethod').includes(`ai.plan.${name}`))
    })

  it('defines the parameters and the result of every method', () => {
    for (const {method, input, output} of rpcMethods) {
      for (const how of ['least', 'full'] as const) {
        assert.deepEqual(violationsOf(`${method}.params`, sample(input, how)), [], method)
        assert.deepEqual(violationsOf(`${method}.result`, sample(output, how)), [], method)
      }
      assert.notDeepEqual(violationsOf(`${method}.params`, 42), [], method)
      assert.notDeepEqual(violationsOf(`${method}.result`, null), [], method)
    }
  })

  it('contains parts of other contracts', () => {
    assert.deepEqual((contract.properties as Record<string, Schema>).protocol, {const: daemonProtocol})
    const {
      $id: _,
      $schema: __,
      title: ___,
      description: ____,
      ...submission
    } = contractSchema('orchestration/submit-task.v1')
    const {description: _____, ...params} = definitions['orch.submit_task.params'] ?? {}
    assert.deepEqual(params, submission)
  })
})

describe('messages between the daemon and its clients', () => {
  it('match the contract in both formats', async (t) => {
    const context = await openContext(t)
    const byName = new Map(operations.map((each) => [each.name, each]))
    for (const [i, [name, params]] of life.entries()) {
      const operation = byName.get(name)
      const method = operation?.bindings.rpc?.method ?? ''
      assert.ok(operation, name)
      const value = await createCall(operation, method).perform(params, context)
      for (const message of [
        {id: `${i}`, method, params},
        {id: `${i}`, payload: {type: 'result', value}},
        {jsonrpc: '2.0', id: i, method, params},
        {jsonrpc: '2.0', id: i, result: value},
      ])
        assert.deepEqual(await line(message), [], method)
      assert.deepEqual(violationsOf(`${method}.params`, params), [], method)
      assert.deepEqual(violationsOf(`${method}.result`, JSON.parse(JSON.stringify(value))), [], method)
    }
    const [event] = context.modules.tasks.readEvents(context.orchestrator, {limit: 1})
    assert.deepEqual(await line({id: 's', payload: {type: 'event', subscription_id: 's1', event}}), [])
    const params = {subscription_id: 's1', event}
    assert.deepEqual(await line({jsonrpc: '2.0', method: 'orch.event', params}), [])
  })

  const error = {
    code: 404,
    message: 'No task T-0042.',
    data: {kind: 'task_not_found', remediation: 'List them.', facts: {task: 'T-0042'}},
  }
  const call = {jsonrpc: '2.0', id: 1, method: 'orch.get_task', params: {task_id: 1}}

  for (const [what, value] of [
    ['a request with an alias of a method', {id: '1', method: 'ping', params: {}}],
    ['a notification', {jsonrpc: '2.0', method: 'orch.rebalance'}],
    ['an id that is null', {jsonrpc: '2.0', id: null, method: 'orch.status', params: {}}],
    ['a batch', [call, {...call, id: 'two'}]],
    [
      'the responses of a batch',
      [
        {jsonrpc: '2.0', id: 1, result: {}},
        {jsonrpc: '2.0', id: 'two', error},
      ],
    ],
    ['a failure', {jsonrpc: '2.0', id: 1, error}],
    [
      'a wrapped failure',
      {id: '1', payload: {type: 'error', message: error.message, code: 1, kind: 'task_not_found', data: error.data}},
    ],
    ['a failure with metadata', {jsonrpc: '2.0', id: 1, error: {...error, data: {...error.data, meta: {attempts: 2}}}}],
    ['null params if none are required', {jsonrpc: '2.0', id: 1, method: 'orch.status', params: null}],
    ['the description of the daemon', {ok: true, repository_id: 'r', protocol: daemonProtocol}],
    [
      'the discovery file of the daemon',
      {
        pid: 1,
        process_start: '7',
        addr: null,
        protocol: daemonProtocol,
        repository_id: 'r',
        started_at_ms: 1,
        ending: true,
      },
    ],
  ] as const)
    it(`can be ${what}`, async () => assert.deepEqual(await line(value), []))

  for (const [what, value, expected] of [
    ['an unknown method', {...call, method: 'orch.get_tusk'}, /^\/method must be one of .*"orch\.get_task"/],
    ['missing params', {jsonrpc: '2.0', id: 1, method: 'orch.get_task'}, /required property 'params'/],
    ['a missing member of the params', {...call, params: {}}, /^\/params must have required property 'task_id'/],
    ['a member of the params of a wrong type', {...call, params: {task_id: 'x'}}, /^\/params\/task_id must be integer/],
    ['params of a different method', {...call, params: {task_id: 1, reason: 'x'}}, /unknown member "reason"/],
    ['a list of params', {...call, params: [1]}, /^\/params must be object/],
    ['an object as the id', {...call, id: {}}, /^\/id must be string,number,null/],
    ['another version of JSON-RPC', {...call, jsonrpc: '1.0'}, /^\/jsonrpc must be "2\.0"/],
    ['a wrapped request with a number as its id', {id: 1, method: 'orch.status', params: {}}, /^\/id must be string/],
    ['a wrapped request without params', {id: '1', method: 'orch.status'}, /required property 'params'/],
    [
      'a wrapped request with an unknown member',
      {id: '1', method: 'orch.status', params: {}, more: 1},
      /unknown member "more"/,
    ],
    [
      'a failure with an unknown number',
      {jsonrpc: '2.0', id: 1, error: {...error, code: 500}},
      /^\/error\/code must be one/,
    ],
    ['a failure without its kind', {jsonrpc: '2.0', id: 1, error: {...error, data: {}}}, /^\/error\/data .*'kind'/],
    [
      'a failure without a remediation',
      {jsonrpc: '2.0', id: 1, error: {...error, data: {kind: 'x', facts: {}}}},
      /^\/error\/data .*'remediation'/,
    ],
    [
      'a failure with unknown data',
      {jsonrpc: '2.0', id: 1, error: {...error, data: {...error.data, more: 1}}},
      /^\/error\/data has an unknown member "more"/,
    ],
    ['null params if some are required', {...call, params: null}, /^\/params must be object/],
    ['null params in an envelope', {id: '1', method: 'orch.status', params: null}, /^\/params must be object/],
    [
      'a description of the daemon with an unknown member',
      {protocol: daemonProtocol, garbage: 1},
      /unknown member "garbage"/,
    ],
    ['a response without a result or an error', {jsonrpc: '2.0', id: 1}, /required property 'result'/],
    ['an empty batch', [], /fewer than 1 items/],
    [
      'a batch of wrapped requests',
      [{id: '1', method: 'orch.status', params: {}}],
      /^\/0 must have required property 'jsonrpc'/,
    ],
    [
      'another protocol',
      {protocol: 'svc.orchestrator_daemon/v2'},
      /^\/protocol must be "svc\.orchestrator_daemon\/v1"/,
    ],
    ['an empty object', {}, /required property/],
  ] as const)
    it(`cannot be ${what}`, async () => {
      const violated = await line(value)
      assert.ok(
        violated.some((each) => expected.test(each)),
        violated.join('\n'),
      )
    })
})
