import assert from 'node:assert/strict'
import {access, readdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {errorCatalogue} from '../../src/errors/catalogue.js'
import {
  asAudioError,
  asCliError,
  asDatabaseError,
  asOllamaError,
  asOpenAiError,
  asProblem,
  asText,
  type ErrorCode,
  Exit,
  explainErrors,
  isErrorOf,
  SvcError,
} from '../../src/errors/index.js'
import {temporaryFolder} from '../support/temporary.js'

/**
 * Facts that suit every row. A name that is not listed reads as a list of one word, which also stands well in a
 * sentence, so a new row needs nothing here.
 */
const facts: object = new Proxy<Record<string, unknown>>(
  {
    param: 'temperature',
    field: 'node_id',
    port: 11434,
    status: 418,
    line: 3,
    column: 7,
    reason: 'the reason',
    suggestion: undefined,
  },
  {get: (known, name) => (name in known ? known[String(name)] : ['sample'])},
)
const errorOf = (code: ErrorCode) => new SvcError(code, facts as never)
const codes = Object.keys(errorCatalogue()) as ErrorCode[]

describe('every error of the catalogue', () => {
  for (const code of codes) {
    it(`${code} says what is wrong and what to do`, () => {
      const {message, hint, exit, status} = errorOf(code)
      assert.match(code, /^[a-z]+(_[a-z0-9]+)*$/)
      assert.notEqual(message.trim(), '')
      assert.doesNotMatch(message, /undefined|\[object|null/)
      assert.match(hint, /^[A-Z][^\n]*\.$/, 'a hint is one line that ends in a full stop')
      assert.ok(hint.split(/[.!?] (?=[A-Z])/).length <= 2, 'a hint has one sentence or two')
      assert.ok(Object.values(Exit).includes(exit) && exit !== Exit.ok)
      assert.ok(status >= 400 && status < 600)
    })

    it(`${code} has the shape of each wire`, async () => {
      const error = errorOf(code)
      const {message, hint, exit, status} = error
      assert.deepEqual(asCliError(error), {error: {code, message, remediation: hint, exit}})
      assert.deepEqual(await contractViolations('cli/error.v1', asCliError(error)), [])
      assert.deepEqual(asOllamaError(error), {error: message})
      const openai = asOpenAiError(error).error
      assert.deepEqual(Object.keys(openai).sort(), ['code', 'message', 'param', 'type'])
      assert.equal(openai.type, status >= 500 ? 'server_error' : 'invalid_request_error')
      assert.ok(openai.code === null || /^[a-z_]+$/.test(openai.code))
      assert.ok(openai.param === null || typeof openai.param === 'string')
      const problem = asProblem(error, 'r-1') as Record<string, unknown>
      assert.equal(typeof problem.title, 'string')
      assert.deepEqual(
        {...problem, title: ''},
        {
          type: 'about:blank',
          title: '',
          status,
          code: code === 'media_type_unsupported' ? 'unsupported_media_type' : code,
          detail: message,
          hint,
          request_id: 'r-1',
        },
      )
      assert.deepEqual(asAudioError(error), {error: code, message, hint})
      const database = asDatabaseError(error, 'r-1') as Record<string, unknown>
      assert.match(String(database.code), /^[A-Z_]+$/)
      assert.deepEqual({...database, code: ''}, {ok: false, code: '', message, request_id: 'r-1'})
    })
  }
})

describe('the explanation of an error', async () => {
  const explained = await explainErrors()
  it('exists for every code', () => {
    assert.deepEqual(explained.map(({code}) => code).sort(), [...codes].sort())
  })

  for (const {code, cause, message, fix} of explained)
    it(`${code} has a cause, and an example without a gap`, () => {
      assert.match(cause, /^[A-Za-z-].*\.$/)
      for (const text of [message, fix]) assert.doesNotMatch(text, /undefined|\[object|NaN|\bnull\./)
      assert.match(fix, /^[A-Z][^\n]*\.$/)
    })
})

describe('a failed command', () => {
  const error = new SvcError('shard_missing', {
    shard: 'model-00002-of-00002.safetensors',
    index: 'model.safetensors.index.json',
  })

  it('prints the sentence, the code and the hint on standard error', () => {
    assert.equal(
      asText(error),
      'error: The shard model-00002-of-00002.safetensors, which model.safetensors.index.json requires, is missing. (shard_missing)\n' +
        '  hint: Copy or download every shard of the model.\n',
    )
  })

  it('prints one JSON object under --json', () => {
    assert.deepEqual(asCliError(error), {
      error: {
        code: 'shard_missing',
        message: error.message,
        remediation: 'Copy or download every shard of the model.',
        exit: 3,
      },
    })
  })
})

describe('a command line that names a near word', () => {
  const cases: [error: SvcError, sentence: string][] = [
    [new SvcError('flag_unknown', {flag: '--thread', suggestion: '--threads'}), 'Did you mean --threads?'],
    [new SvcError('command_unknown', {command: 'genrate', suggestion: 'generate'}), 'Did you mean generate?'],
    [new SvcError('contract_unknown', {id: 'cli/eror', suggestion: 'cli/error.v1'}), 'Did you mean cli/error.v1?'],
  ]
  for (const [error, sentence] of cases)
    it(`is told "${sentence}"`, () => {
      assert.ok(error.message.endsWith(sentence))
    })

  it('is told nothing of the kind when no word is near', () => {
    assert.equal(new SvcError('flag_unknown', {flag: '--banana'}).message, 'Unknown flag --banana.')
  })
})

describe('a client of /v1/*', () => {
  const cases: [error: SvcError, status: number, type: string, code: string | null, param: string | null][] = [
    [new SvcError('bad_request', {reason: 'no', param: 'top_p'}), 400, 'invalid_request_error', null, 'top_p'],
    [new SvcError('bad_request', {reason: 'no'}), 400, 'invalid_request_error', null, null],
    [new SvcError('invalid_json', {reason: 'no'}), 400, 'invalid_request_error', 'invalid_json', null],
    [
      new SvcError('prompt_too_long', {length: '9 tokens', context: 8}),
      400,
      'invalid_request_error',
      'context_length_exceeded',
      null,
    ],
    [new SvcError('unauthorized', {}), 401, 'invalid_request_error', 'invalid_api_key', null],
    [
      new SvcError('model_not_served', {model: 'm', served: 's'}),
      404,
      'invalid_request_error',
      'model_not_found',
      'model',
    ],
    [new SvcError('route_unknown', {method: 'GET', path: '/v1'}), 404, 'invalid_request_error', 'unknown_url', null],
    [
      new SvcError('method_not_allowed', {method: 'GET', path: '/v1', allowed: ['POST']}),
      405,
      'invalid_request_error',
      'method_not_allowed',
      null,
    ],
    [new SvcError('body_too_large', {limit: 8}), 413, 'invalid_request_error', 'request_too_large', null],
    [new SvcError('internal', {reason: 'no'}), 500, 'server_error', null, null],
    [new SvcError('overloaded', {reason: 'no'}), 503, 'server_error', 'overloaded', null],
  ]
  for (const [error, status, type, code, param] of cases)
    it(`sees ${status} ${type}, code ${code}, param ${param}`, () => {
      assert.equal(error.status, status)
      assert.deepEqual(asOpenAiError(error), {error: {message: error.message, type, param, code}})
    })
})

describe('a client of /api/*', () => {
  it('sees the words Ollama uses for an empty body', () => {
    assert.deepEqual(asOllamaError(new SvcError('body_missing', {})), {error: 'missing request body'})
  })
})

describe('a mesh node', () => {
  it('sees a problem with the title of its status', () => {
    assert.deepEqual(asProblem(new SvcError('unauthorized', {}), 'r-7'), {
      type: 'about:blank',
      title: 'Unauthorized',
      status: 401,
      code: 'unauthorized',
      detail: 'The request has no valid token.',
      hint: 'Send the header Authorization: Bearer TOKEN.',
      request_id: 'r-7',
    })
  })

  it('sees no request id where there was no request', () => {
    assert.ok(!('request_id' in asProblem(new SvcError('unauthorized', {}))))
  })
})

describe('a fault of the file system', () => {
  const caught = async (work: Promise<unknown>) =>
    SvcError.from(
      await work.then(
        () => assert.fail('it should have failed'),
        (error: unknown) => error,
      ),
    )

  it('is "not found" when the file is missing, with its path', async (t) => {
    const path = join(await temporaryFolder(t), 'absent.json')
    const error = await caught(readFile(path))
    assert.equal(error.message, `${path} does not exist.`)
    assert.equal(error.exit, Exit.notFound)
  })

  it('is "unreadable" when the file is a directory', async (t) => {
    const error = await caught(readFile(await temporaryFolder(t)))
    assert.equal(error.code, 'file_unreadable')
    assert.match(error.message, /it is a directory/)
  })

  it('is no fault of svc when the path leads through a file', async (t) => {
    const file = join(await temporaryFolder(t), 'config.json')
    await writeFile(file, '{}')
    const error = await caught(readdir(join(file, 'inside')))
    assert.notEqual(error.code, 'internal')
    assert.ok(error.message.includes(file))
  })

  for (const [code, expected] of [
    ['EACCES', 'file_unreadable'],
    ['EPERM', 'file_unreadable'],
    ['ENOSPC', 'disk_full'],
  ] as const)
    it(`${code} is ${expected}`, () => {
      const error = SvcError.from(Object.assign(new Error(code), {code, path: '/some/file'}))
      assert.equal(error.code, expected)
      assert.match(error.message, /\/some\/file/)
    })
})

describe('whatever else was thrown', () => {
  it('stays the same error when it is one of ours', () => {
    const error = new SvcError('unauthorized', {})
    assert.equal(SvcError.from(error), error)
  })

  it('is an interruption when work was aborted', () => {
    assert.equal(SvcError.from(AbortSignal.abort().reason).code, 'interrupted')
  })

  for (const thrown of [new Error('boom'), 'boom'])
    it(`is internal, with its words: ${typeof thrown}`, () => {
      const error = SvcError.from(thrown)
      assert.equal(error.code, 'internal')
      assert.match(error.message, /boom/)
    })

  it('keeps the first fault as its cause', async () => {
    const fault = await access('/nowhere/at/all').catch((error: unknown) => error)
    assert.equal(SvcError.from(fault).cause, fault)
  })
})

describe('an error that crosses a thread', () => {
  it('arrives with its code, facts, sentence and stack', () => {
    const cause = new Error('the first fault')
    const sent = new SvcError('tensor_shape', {tensor: 'a', file: 'b', found: [2, 3], expected: [3, 2]}, {cause})
    const received = SvcError.fromRecord(structuredClone(sent.toRecord()))
    assert.ok(isErrorOf(received, 'tensor_shape'))
    assert.ok(!isErrorOf(received, 'internal'))
    assert.deepEqual(received.params, sent.params)
    assert.equal(received.message, 'The tensor a in b has shape [2, 3]; config.json requires [3, 2].')
    assert.match(received.stack ?? '', /the first fault/)
  })
})

describe('an error that another program has told of', () => {
  it('is the row of its code in the words of that program, also in another process', () => {
    const told = SvcError.fromRemote('inbox_full', 'Seven wait.')
    assert.ok(told)
    for (const error of [told, SvcError.fromRecord(JSON.parse(JSON.stringify(told.toRecord())))])
      assert.deepEqual(
        [error.code, error.message, error.exit, error.hint],
        ['inbox_full', 'Seven wait.', Exit.unavailable, errorOf('inbox_full').hint],
      )
  })

  it('is none where the code is unknown, or its hint needs to know more', () => {
    for (const code of ['no_such_code', 'constructor', 'port_in_use'])
      assert.equal(SvcError.fromRemote(code, 'It is.'), undefined)
  })
})
