import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {failureOf, type Refusal, type Request, readEntry, readLine, resultOf} from '../../src/daemon/envelope.js'
import {toWireError} from '../../src/daemon/wire-error.js'
import {SvcError} from '../../src/errors/index.js'
import {DetailedError} from '../../src/operations/index.js'

const say = (line: string) => readLine(line, 100)

describe('readLine', () => {
  const accepted: readonly [line: string, request: Request][] = [
    ['{"id":"a","method":"m","params":{"x":1}}', {form: 'wrapped', id: 'a', method: 'm', params: {x: 1}}],
    ['{"id":"","method":"m","params":{}}', {form: 'wrapped', id: '', method: 'm', params: {}}],
    ['{"jsonrpc":"2.0","id":"a","method":"m"}', {form: 'json-rpc', id: 'a', method: 'm', params: {}}],
    ['{"jsonrpc":"2.0","id":-3,"method":"m"}', {form: 'json-rpc', id: -3, method: 'm', params: {}}],
    ['{"jsonrpc":"2.0","method":"m"}', {form: 'json-rpc', id: undefined, method: 'm', params: {}}],
    ['\uFEFF{"jsonrpc":"2.0","id":1,"method":"m"}', {form: 'json-rpc', id: 1, method: 'm', params: {}}],
    ['{"jsonrpc":"2.0","id":1,"method":"m","more":1}', {form: 'json-rpc', id: 1, method: 'm', params: {}}],
  ]
  for (const [line, request] of accepted)
    it(`accepts ${line}`, () => {
      assert.deepEqual(say(line), request)
    })

  const refused: readonly [line: string, form: Request['form'], id: Request['id'], code: number, reason: RegExp][] = [
    ['{', 'wrapped', '0', -32_700, /^invalid request: it is not JSON/],
    ['{"jsonrpc": "2.0", "id": 1,', 'json-rpc', null, -32_700, /^invalid request: it is not JSON/],
    ['7', 'wrapped', '0', -32_600, /a request must be an object/],
    ['null', 'wrapped', '0', -32_600, /a request must be an object/],
    ['{}', 'wrapped', '0', -32_600, /"id" is missing/],
    ['{"id":"a","params":{}}', 'wrapped', '0', -32_600, /"method" is missing/],
    ['{"id":"a","method":"m"}', 'wrapped', '0', -32_600, /"params" is missing/],
    ['{"id":1,"method":"m","params":{}}', 'wrapped', '0', -32_600, /"id" must be a string/],
    ['{"id":"a","method":7,"params":{}}', 'wrapped', '0', -32_600, /"method" must be a string/],
    ['{"id":"a","method":"","params":{}}', 'wrapped', '0', -32_600, /"method" must be a string/],
    ['{"id":"a","method":"m","params":[]}', 'wrapped', '0', -32_600, /"params" must be an object/],
    ['{"id":"a","method":"m","params":null}', 'wrapped', '0', -32_600, /"params" must be an object/],
    ['{"id":"a","method":"m","params":{},"x":1}', 'wrapped', '0', -32_600, /unknown member "x"/],
    ['{"jsonrpc":"1.0","id":"a","method":"m","params":{}}', 'wrapped', '0', -32_600, /"jsonrpc" must be "2.0"/],
    ['{"jsonrpc":"2.0","id":4}', 'json-rpc', 4, -32_600, /"method" must be a string/],
    ['{"jsonrpc":"2.0"}', 'json-rpc', null, -32_600, /"method" must be a string/],
    ['{"jsonrpc":"2.0","id":4,"method":"m","params":"x"}', 'json-rpc', 4, -32_602, /"params" must be an object/],
    ['{"jsonrpc":"2.0","method":"m","params":null}', 'json-rpc', null, -32_602, /"params" must be an object/],
    ['{"jsonrpc":"2.0","id":1.5,"method":"m"}', 'json-rpc', 1.5, -32_600, /"id" must be/],
    ['{"jsonrpc":"2.0","id":null,"method":"m"}', 'json-rpc', null, -32_600, /"id" must be/],
    ['{"jsonrpc":"2.0","id":{},"method":"m"}', 'json-rpc', null, -32_600, /"id" must be/],
    ['{"jsonrpc":"2.0","id":true,"method":"m"}', 'json-rpc', null, -32_600, /"id" must be/],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}', 'json-rpc', null, -32_600, /is not exact/],
    [
      '{"jsonrpc":"2.0","id":4,"method":"m","params":{"a":9007199254740993}}',
      'json-rpc',
      4,
      -32_600,
      /\(line 1, column 52\)/,
    ],
    ['{"jsonrpc":"2.0","id":1e999,"method":"m"}', 'json-rpc', null, -32_600, /"id" must be/],
  ]
  for (const [line, form, id, code, reason] of refused)
    it(`rejects ${line}`, () => {
      const {error, ...rest} = say(line) as Refusal
      assert.deepEqual(rest, {form, id})
      assert.match(error.message, reason)
      assert.match(error.message, code === -32_602 ? /^Invalid parameters for m: / : /^invalid request/)
      assert.equal(toWireError(error).code, code)
    })

  it('does not quote invalid JSON in the error', () => {
    for (const line of ['secret-word', '{"token": secret-word}', '{"a":"secret-word"', '["secret-word",]'])
      assert.doesNotMatch(failureOf({form: 'json-rpc', id: 1}, (say(line) as Refusal).error), /secret|word/)
  })

  it('rejects other text in the form of the last line', () => {
    for (const line of [
      'garbage',
      {problem: 'too_long', head: 'garbage'},
      {problem: 'not_utf8', head: 'garbage'},
    ] as const) {
      const after = (form?: Request['form']) => {
        const refusal = readLine(line, 100, form) as Refusal
        return [refusal.form, refusal.id]
      }
      assert.deepEqual(
        [after(), after('wrapped'), after('json-rpc')],
        [
          ['wrapped', '0'],
          ['wrapped', '0'],
          ['json-rpc', null],
        ],
      )
    }
    assert.equal((readLine('7', 100, 'json-rpc') as Refusal).form, 'json-rpc')
  })

  it('rejects broken lines in their apparent form', () => {
    const head = '{"jsonrpc":"2.0","id":1,"method":"'
    const long = readLine({problem: 'too_long', head}, 100) as Refusal
    assert.deepEqual([long.form, long.id, toWireError(long.error).code], ['json-rpc', null, -32_600])
    assert.match(long.error.message, /^invalid request: the line is longer than 100 bytes/)
    const foreign = readLine({problem: 'not_utf8', head: 'ÿ'}, 100) as Refusal
    assert.deepEqual([foreign.form, foreign.id, toWireError(foreign.error).code], ['wrapped', '0', -32_700])
  })
})

describe('batch', () => {
  it('is a line with an array', () => {
    assert.deepEqual(say('[1, {}]'), {entries: [1, {}]})
    assert.deepEqual(say('[]'), {entries: []})
  })

  it('contains only JSON-RPC 2.0 requests', () => {
    assert.equal('error' in readEntry({jsonrpc: '2.0', id: 1, method: 'm'}), false)
    for (const [entry, id] of [
      [1, null],
      [[], null],
      [{id: 'a', method: 'm', params: {}}, 'a'],
      [{jsonrpc: '1.0', id: 2.5}, 2.5],
      [{id: {}, method: 'm'}, null],
    ] as const) {
      const {form, id: told, error} = readEntry(entry) as Refusal
      assert.deepEqual([form, told, toWireError(error).code], ['json-rpc', id, -32_600])
    }
  })
})

describe('response', () => {
  it('has the form and the unchanged id of its request', () => {
    const value = {a: 'ü\n'}
    assert.deepEqual(JSON.parse(resultOf({form: 'json-rpc', id: 7}, value)), {jsonrpc: '2.0', id: 7, result: value})
    assert.deepEqual(JSON.parse(resultOf({form: 'json-rpc', id: null}, undefined)), {
      jsonrpc: '2.0',
      id: null,
      result: null,
    })
    assert.deepEqual(JSON.parse(resultOf({form: 'wrapped', id: '7'}, value)), {
      id: '7',
      payload: {type: 'result', value},
    })
    assert.ok(!resultOf({form: 'wrapped', id: '7'}, value).includes('\n'))
  })

  it('is empty for a notification', () => {
    assert.equal(resultOf({form: 'json-rpc', id: undefined}, {}), '')
    assert.equal(failureOf({form: 'json-rpc', id: undefined}, new SvcError('task_not_found', {task: 'T-0001'})), '')
  })

  it('contains message and remediation in both forms', () => {
    const error = new SvcError('task_not_found', {task: 'T-0042'})
    const {message, hint: remediation} = error
    const data = {kind: 'task_not_found', remediation, facts: {task: 'T-0042'}}
    assert.deepEqual(JSON.parse(failureOf({form: 'json-rpc', id: 'x'}, error)), {
      jsonrpc: '2.0',
      id: 'x',
      error: {code: 404, message, data},
    })
    assert.deepEqual(JSON.parse(failureOf({form: 'wrapped', id: 'x'}, error)), {
      id: 'x',
      payload: {type: 'error', message, code: 1, kind: 'task_not_found', data},
    })
  })
})

describe('wire error', () => {
  const task = 'T-0001'
  const cases: readonly [error: SvcError, code: number][] = [
    [new SvcError('request_unparsable', {reason: 'x'}), -32_700],
    [new SvcError('request_invalid', {reason: 'x'}), -32_600],
    [new SvcError('request_too_long', {limit: 8}), -32_600],
    [new SvcError('method_unknown', {method: 'x'}), -32_601],
    [new SvcError('params_invalid', {operation: 'x', violations: []}), -32_602],
    [new SvcError('task_path_escapes', {path: '..'}), -32_602],
    [new SvcError('scope_denied', {agent: 'a', path: 'x'}), 403],
    [new SvcError('daemon_token_refused', {}), 403],
    [new SvcError('task_not_found', {task}), 404],
    [new SvcError('invalid_transition', {task, from: 'Queued', to: 'Completed'}), 409],
    [new SvcError('queue_full', {queued: 1, limit: 1}), 503],
    [new SvcError('store_busy', {path: 'x'}), 503],
    [new SvcError('unreachable', {url: 'x', reason: 'x'}), 503],
    [new SvcError('task_wait_timeout', {task, status: 'Queued', seconds: 1}), 504],
    [new SvcError('disk_full', {path: 'x'}), 1],
    [new SvcError('internal', {reason: 'x'}), 1],
  ]
  for (const [error, code] of cases)
    it(`has the code ${code} for ${error.code}`, () => {
      assert.equal(toWireError(error).code, code)
    })

  const paths: readonly [violation: string, path: string | undefined][] = [
    ['/task_id must be integer', '/task_id'],
    ['/file_manifest/0/path must be string', '/file_manifest/0/path'],
    ["the document must have required property 'task_id'", '/task_id'],
    ["/enqueue_hints must have required property 'a/b'", '/enqueue_hints/a~1b'],
    ['the document has an unknown member "x"', '/x'],
    ['the document must be object', ''],
    ['and 3 more', undefined],
  ]
  for (const [violation, path] of paths)
    it(`has the path ${path} for "${violation}"`, () => {
      const error = new SvcError('params_invalid', {operation: 'm', violations: [violation, '/other must be string']})
      assert.equal(toWireError(error).data.path, path)
    })

  it('contains additional details in both forms', () => {
    const meta = {diagnostics_snapshot: [{code: 'typecheck.unknown_type', line: 1}], repair: {attempts: 2}}
    const thrown: unknown = new DetailedError(new SvcError('task_not_found', {task}), meta)
    const error = SvcError.from(thrown)
    const data = {kind: 'task_not_found', remediation: error.hint, facts: {task}, meta}
    assert.deepEqual(JSON.parse(failureOf({form: 'json-rpc', id: 1}, error)).error.data, data)
    assert.deepEqual(JSON.parse(failureOf({form: 'wrapped', id: 'a'}, error)).payload.data, data)
    assert.equal('meta' in toWireError(new SvcError('task_not_found', {task})).data, false)
  })

  it('does not contain internal details', () => {
    const wire = JSON.stringify(toWireError(SvcError.from(new TypeError('x is not a function at /home/me'))))
    assert.doesNotMatch(wire, /function|home/)
    assert.match(wire, /see the daemon log/)
  })
})
