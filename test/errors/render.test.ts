import assert from 'node:assert/strict'
import {access, readdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {errorCatalogue} from '../../src/errors/catalogue.js'
import {
  asAnthropicError,
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
 * Parameters for every row. A name that is not listed has a list of one word as its value, which also reads well as a
 * text, so most new rows need no change here.
 */
const parameters: object = new Proxy<Record<string, unknown>>(
  {
    param: 'temperature',
    field: 'node_id',
    port: 11434,
    status: 418,
    line: 3,
    column: 7,
    reason: 'the reason',
    answer: 'the answer',
    owner: 'the owner',
    holder: 'the holder',
    family: 'the family',
    suggestion: undefined,
  },
  {get: (known, name) => (name in known ? known[String(name)] : ['sample'])},
)
const errorOf = (code: ErrorCode) => new SvcError(code, parameters as never)
const codes = Object.keys(errorCatalogue()) as ErrorCode[]

/** Codes of the speech server that differ from those of the catalogue. */
const audioCodes: Readonly<Record<string, string>> = {
  audio_unrecognized: 'unsupported_media_type',
  audio_invalid: 'transcribe_failed',
  audio_empty: 'transcribe_failed',
  audio_track_missing: 'transcribe_failed',
  media_type_unsupported: 'unsupported_media_type',
  language_unsupported: 'unsupported_language',
  path_denied: 'path_outside_workspace',
  origin_forbidden: 'forbidden_origin',
  body_too_large: 'payload_too_large',
  overloaded: 'busy',
  speech_model_missing: 'model_unavailable',
  recognition_failed: 'internal_error',
  internal: 'internal_error',
}

describe('the text of a user in a message', () => {
  const text = 'one\ntwo\r\n'
  for (const error of [
    new SvcError('question_answered', {question: 'Q-0001', answer: text}),
    new SvcError('workflow_decided', {run: 'r', key: 'ask', approved: false, reason: text}),
    new SvcError('stopped', {reason: text}),
    new SvcError('message_claim_lost', {message: '1', owner: text, holder: text, canForce: true}),
  ])
    it(`is on one line in ${error.code}`, () => {
      assert.match(error.message, /one two/)
      assert.doesNotMatch(error.message + error.hint, /[\r\n]/)
    })
})

describe('each error of the catalogue', () => {
  for (const code of codes) {
    it(`${code} has a message and a one-sentence hint`, () => {
      const {message, hint, exit, status} = errorOf(code)
      assert.match(code, /^[a-z]+(_[a-z0-9]+)*$/)
      assert.notEqual(message.trim(), '')
      assert.doesNotMatch(message, /undefined|\[object|null/)
      assert.match(hint, /^[A-Z][^\n]*\.$/, 'a hint is one line that ends with a full stop')
      assert.doesNotMatch(hint, /[.!?] [A-Z]/, 'a hint is one sentence')
      assert.ok(Object.values(Exit).includes(exit) && exit !== Exit.ok)
      assert.ok(status >= 400 && status < 600)
    })

    it(`${code} renders to each wire format`, async () => {
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
      const audio = asAudioError(error)
      assert.deepEqual([audio.error, audio.message, audio.hint], [audioCodes[code] ?? code, message, hint])
      const database = asDatabaseError(error, 'r-1') as Record<string, unknown>
      assert.match(String(database.code), /^[A-Z_]+$/)
      assert.deepEqual({...database, code: ''}, {ok: false, code: '', message, request_id: 'r-1'})
    })
  }
})

describe('an error of the speech server', () => {
  const facts = {state: 'failed', deadline_diagnostics: []} as const
  for (const [error, fields] of [
    [new SvcError('file_not_found', {path: 'a.wav'}), {path: 'a.wav'}],
    [new SvcError('body_too_large', {limit: 7}), {max_bytes: 7}],
    [new SvcError('buffer_overflow', {max_buffer_ms: 8}), {max_buffer_ms: 8}],
    [new SvcError('speech_capture_timeout', {timeout_ms: 9, ...facts}), {timeout_ms: 9, ...facts}],
    [new SvcError('audio_empty', {file: 'a.wav'}), {}],
  ] as const)
    it(`contains the details of ${error.code}`, () => {
      const {error: _, message, hint, ...rest} = asAudioError(error)
      assert.deepEqual([message, hint, rest], [error.message, error.hint, fields])
    })
})

describe('the explanation of an error', async () => {
  const explained = await explainErrors()
  it('exists for every code', () => {
    assert.deepEqual(explained.map(({code}) => code).sort(), [...codes].sort())
  })

  for (const {code, cause, message, fix} of explained)
    it(`${code} has a cause and a complete example`, () => {
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

  it('prints message, code and hint to standard error', () => {
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

describe('the message for a misspelt name', () => {
  const cases: [error: SvcError, sentence: string][] = [
    [new SvcError('flag_unknown', {flag: '--thread', suggestion: '--threads'}), 'Did you mean --threads?'],
    [new SvcError('command_unknown', {command: 'genrate', suggestion: 'generate'}), 'Did you mean generate?'],
    [new SvcError('contract_unknown', {id: 'cli/eror', suggestion: 'cli/error.v1'}), 'Did you mean cli/error.v1?'],
  ]
  for (const [error, sentence] of cases)
    it(`ends with "${sentence}"`, () => {
      assert.ok(error.message.endsWith(sentence))
    })

  it('has no suggestion if no name is similar', () => {
    assert.equal(new SvcError('flag_unknown', {flag: '--banana'}).message, 'Unknown flag --banana.')
  })
})

describe('an error of /v1/*', () => {
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
    it(`is ${status} ${type}, code ${code}, param ${param}`, () => {
      assert.equal(error.status, status)
      assert.deepEqual(asOpenAiError(error), {error: {message: error.message, type, param, code}})
    })
})

describe('an error of /api/*', () => {
  it('uses the text of Ollama for an empty body', () => {
    assert.deepEqual(asOllamaError(new SvcError('body_missing', {})), {error: 'missing request body'})
  })
})

describe('an error of /v1/messages', () => {
  const cases: readonly [error: SvcError, status: number, type: string][] = [
    [new SvcError('bad_request', {reason: 'x'}), 400, 'invalid_request_error'],
    [new SvcError('unauthorized', {}), 401, 'authentication_error'],
    [new SvcError('origin_forbidden', {origin: 'x'}), 403, 'permission_error'],
    [errorOf('model_not_served'), 404, 'not_found_error'],
    [new SvcError('method_not_allowed', {method: 'GET', path: '/', allowed: ['POST']}), 405, 'invalid_request_error'],
    [new SvcError('request_timeout', {}), 408, 'timeout_error'],
    [new SvcError('body_too_large', {limit: 1}), 413, 'request_too_large'],
    [new SvcError('rate_limited', {limit: 1, within: 'minute'}), 429, 'rate_limit_error'],
    [new SvcError('internal', {reason: 'x'}), 500, 'api_error'],
    [new SvcError('overloaded', {reason: 'x'}), 503, 'overloaded_error'],
  ]
  for (const [error, status, type] of cases)
    it(`is ${status} ${type}`, () => {
      assert.equal(error.status, status)
      assert.deepEqual(asAnthropicError(error, 'r-7'), {
        type: 'error',
        error: {type, message: error.message},
        request_id: 'r-7',
      })
    })

  it('has the words that agents search when the prompt is too long', () => {
    const {error} = asAnthropicError(new SvcError('prompt_too_long', {length: '9 tokens', context: 8}))
    assert.match(error.message, /^prompt is too long: /)
  })
})

describe('an error of the control plane', () => {
  it('is a problem with the title of its status', () => {
    assert.deepEqual(asProblem(new SvcError('unauthorized', {}), 'r-7'), {
      type: 'about:blank',
      title: 'Unauthorized',
      status: 401,
      code: 'unauthorized',
      detail: 'The request has no valid token.',
      hint: 'Send the header Authorization: Bearer TOKEN; model servers also accept x-api-key.',
      request_id: 'r-7',
    })
  })

  it('has no request id without a request', () => {
    assert.ok(!('request_id' in asProblem(new SvcError('unauthorized', {}))))
  })
})

describe('a file-system error', () => {
  const caught = async (work: Promise<unknown>) =>
    SvcError.from(
      await work.then(
        () => assert.fail('expected an error'),
        (error: unknown) => error,
      ),
    )

  it('becomes file_not_found if the file is missing', async (t) => {
    const path = join(await temporaryFolder(t), 'absent.json')
    const error = await caught(readFile(path))
    assert.equal(error.message, `${path} does not exist.`)
    assert.equal(error.exit, Exit.notFound)
  })

  it('becomes file_unreadable if the file is a directory', async (t) => {
    const error = await caught(readFile(await temporaryFolder(t)))
    assert.equal(error.code, 'file_unreadable')
    assert.match(error.message, /it is a directory/)
  })

  it('is not an internal error if the path leads through a file', async (t) => {
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
    it(`${code} becomes ${expected}`, () => {
      const error = SvcError.from(Object.assign(new Error(code), {code, path: '/some/file'}))
      assert.equal(error.code, expected)
      assert.match(error.message, /\/some\/file/)
    })
})

describe('another thrown value', () => {
  it('stays the same if it is an SvcError', () => {
    const error = new SvcError('unauthorized', {})
    assert.equal(SvcError.from(error), error)
  })

  it('becomes interrupted if work was aborted', () => {
    assert.equal(SvcError.from(AbortSignal.abort().reason).code, 'interrupted')
  })

  for (const thrown of [new Error('boom'), 'boom'])
    it(`becomes internal with its message: ${typeof thrown}`, () => {
      const error = SvcError.from(thrown)
      assert.equal(error.code, 'internal')
      assert.match(error.message, /boom/)
    })

  it('keeps the original error as its cause', async () => {
    const original = await access('/nowhere/at/all').catch((error: unknown) => error)
    assert.equal(SvcError.from(original).cause, original)
  })
})

describe('an error sent to another thread', () => {
  it('keeps its code, parameters, message and stack', () => {
    const cause = new Error('the original error')
    const sent = new SvcError('tensor_shape', {tensor: 'a', file: 'b', found: [2, 3], expected: [3, 2]}, {cause})
    const received = SvcError.fromRecord(structuredClone(sent.toRecord()))
    assert.ok(isErrorOf(received, 'tensor_shape'))
    assert.ok(!isErrorOf(received, 'internal'))
    assert.deepEqual(received.params, sent.params)
    assert.equal(received.message, 'The tensor a in b has shape [2, 3]; config.json requires [3, 2].')
    assert.match(received.stack ?? '', /the original error/)
  })
})

describe('an error reported by another program', () => {
  it('has the row of its code and the message of that program, also in another process', () => {
    const remote = SvcError.fromRemote('inbox_full', 'Seven wait.')
    assert.ok(remote)
    for (const error of [remote, SvcError.fromRecord(JSON.parse(JSON.stringify(remote.toRecord())))])
      assert.deepEqual(
        [error.code, error.message, error.exit, error.hint],
        ['inbox_full', 'Seven wait.', Exit.unavailable, errorOf('inbox_full').hint],
      )
  })

  it('is undefined if its code is unknown or its hint needs parameters', () => {
    for (const code of ['no_such_code', 'constructor', 'port_in_use'])
      assert.equal(SvcError.fromRemote(code, 'It is.'), undefined)
  })
})
