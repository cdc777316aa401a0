import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {describe, it} from 'node:test'
import {execa} from 'execa'
import {SvcError} from '../../src/errors/index.js'
import {configureLog, type Logger, logger, redact, registerSecret} from '../../src/log/index.js'

/** Collects the log output of some work. */
function logged(work: (log: Logger) => void, {filter = 'trace', format = 'json' as 'json' | 'text'} = {}): string[] {
  const lines: string[] = []
  configureLog({filter, format, stream: {write: (line) => void lines.push(line)}})
  work(logger('llm'))
  return lines
}

const records = (work: (log: Logger) => void) => logged(work).map((line) => JSON.parse(line) as Record<string, unknown>)

describe('JSON log', () => {
  it('has one object per line with level, time, target, facts and message', () => {
    const [record, ...more] = records((log) => log.info({tokens: 12}, 'prefill done'))
    assert.deepEqual(more, [])
    const {time, ...rest} = record ?? {}
    assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(rest, {level: 'info', target: 'llm', tokens: 12, msg: 'prefill done'})
  })

  it('respects the filter', () => {
    const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const
    const seen = (filter: string) =>
      logged((log) => levels.forEach((level) => void log[level](level)), {filter}).map((line) => JSON.parse(line).msg)
    assert.deepEqual(seen('warn'), ['warn', 'error'])
    assert.deepEqual(seen('error,llm=debug'), ['debug', 'info', 'warn', 'error'])
    assert.deepEqual(seen('trace,llm=off'), [])
  })

  it('has a level per target', () => {
    const targets = (filter: string) =>
      logged(
        () => {
          logger('llm').debug('one')
          logger('mesh.control').debug('two')
        },
        {filter},
      ).map((line) => JSON.parse(line).target)
    assert.deepEqual(targets('mesh=debug'), ['mesh.control'])
    assert.deepEqual(targets('debug'), ['llm', 'mesh.control'])
  })
})

describe('text log', () => {
  it('has time, level, target, message, facts on one line', () => {
    const [line] = logged((log) => log.warn({tokens: 12, model: 'tiny', shape: [1, 2]}, 'prefill done'), {
      format: 'text',
    })
    assert.match(line ?? '', /^\d\d:\d\d:\d\d\.\d{3} warn llm: prefill done tokens=12 model=tiny shape=\[1,2\]\n$/)
  })

  it('supports records without a message', () => {
    const [line] = logged((log) => log.info({tokens: 12}), {format: 'text'})
    assert.match(line ?? '', / info llm: tokens=12\n$/)
  })

  it('escapes line breaks, so that a value cannot forge a record', () => {
    const lines = logged((log) => log.warn({model: 'a\n12:00:00.000 error llm: forged'}, 'loaded'), {format: 'text'})
    assert.equal(lines.join('').split('\n').length, 2)
  })
})

describe('unconfigured log', () => {
  it('writes warnings to standard error as JSON, and nothing to standard output', async () => {
    const module = new URL('../../src/log/index.js', import.meta.url).href
    const script = `
      const {logger} = await import(${JSON.stringify(module)})
      logger('llm').info('quiet')
      logger('llm').warn('loud')
    `
    const {stdout, stderr} = await execa(process.execPath, ['--input-type=module', '--eval', script])
    assert.equal(stdout, '')
    assert.deepEqual(
      stderr.split('\n').map((line) => JSON.parse(line).msg),
      ['loud'],
    )
  })
})

describe('a log on a full disk', {skip: !existsSync('/dev/full') && 'this system has no /dev/full'}, () => {
  it('ends neither the program nor the work that logs', async () => {
    const module = new URL('../../src/log/index.js', import.meta.url).href
    const script = `
      const {logger} = await import(${JSON.stringify(module)})
      for (let line = 0; line < 3000; line++) logger('llm').warn({line, text: 'x'.repeat(1000)}, 'lost')
      setTimeout(() => process.stdout.write('done'), 10)
    `
    const program = [process.execPath, '--input-type=module', '--eval', script]
    const {stdout} = await execa('sh', ['-c', 'exec "$0" "$@" 2> /dev/full', ...program])
    assert.equal(stdout, 'done')
  })
})

describe('member with a secret name', () => {
  for (const name of [
    'token',
    'accessToken',
    'SVC_MESH_TOKEN',
    'apiKey',
    'api_key',
    'x-api-key',
    'password',
    'passwd',
    'clientSecret',
    'authorization',
    'Authorization',
    'cookie',
    'set-cookie',
    'private_key',
  ])
    it(`${name} is redacted`, () => {
      const [record] = records((log) => log.info({headers: {[name]: 'abc', host: 'h'}}, 'sent'))
      assert.deepEqual(record?.headers, {[name]: '[redacted]', host: 'h'})
    })

  it('is redacted if it is a list', () => {
    const [record] = records((log) => log.info({headers: {'set-cookie': ['a=1', 'b=2']}}, 'received'))
    assert.doesNotMatch(JSON.stringify(record), /a=1|b=2/)
  })

  it('is redacted at any depth', () => {
    let nested: object = {token: 'abc-at-the-bottom'}
    for (let depth = 0; depth < 12; depth++) nested = depth % 2 === 0 ? [nested] : {nested}
    assert.doesNotMatch(logged((log) => log.info({nested}, 'deep')).join(''), /abc-at-the-bottom/)
  })

  it('is redacted in the bindings of a child logger', () => {
    assert.doesNotMatch(logged((log) => log.child({token: 'abc-of-child'}).info('sent')).join(''), /abc-of-child/)
  })

  it('is redacted in an object without a prototype', () => {
    const headers = Object.assign(Object.create(null), {authorization: 'Bearer abc-bare'})
    assert.doesNotMatch(logged((log) => log.info({headers}, 'sent')).join(''), /abc-bare/)
  })

  it('is redacted in format arguments', () => {
    assert.doesNotMatch(logged((log) => log.info('sent %o', {token: 'abc-format'})).join(''), /abc-format/)
  })

  it('does not include similar names', () => {
    const counts = {prompt_tokens: 3, tokenizer: 'bpe', tokens: 12, keys: ['a'], secretary: 'Ann'}
    const [record] = records((log) => log.info(counts, 'done'))
    for (const [name, value] of Object.entries(counts)) assert.deepEqual(record?.[name], value)
  })
})

describe('registered secret', () => {
  const secret = 's3cr3t-v@lue$&'
  registerSecret(secret)
  const ways: [where: string, work: (log: Logger) => void][] = [
    ['in a message', (log) => log.info(`using ${secret} twice: ${secret}`)],
    ['in the arguments of a message', (log) => log.info('using %s', secret)],
    ['in a fact', (log) => log.info({url: `http://h/?key=${secret}`}, 'sent')],
    ['in a nested fact', (log) => log.info({a: [{b: [secret]}]}, 'sent')],
    ['in the name of a fact', (log) => log.info({byValue: {[secret]: 1}}, 'sent')],
    ['in an error', (log) => log.error({err: new Error(`wrong: ${secret}`)}, 'failed')],
    ['in an error under another name', (log) => log.error({reason: new Error(`wrong: ${secret}`)}, 'failed')],
    ['in an error without a message', (log) => log.error({err: new Error(`wrong: ${secret}`)})],
    ['in a bare error', (log) => log.error(new Error(`wrong: ${secret}`))],
    ['in the cause of an error', (log) => log.error({err: new Error('wrong', {cause: new Error(secret)})}, 'failed')],
    ['in a catalogue error', (log) => log.error({err: new SvcError('usage', {reason: secret})}, 'failed')],
    ['in the bindings of a child logger', (log) => log.child({url: `http://${secret}/`}).info('sent')],
    ['in a URL object', (log) => log.info({url: new URL(`http://h/?key=${encodeURI(secret)}`)}, 'sent')],
    [
      'in an object of a class',
      (log) =>
        log.info(
          {
            request: new (class {
              url = secret
            })(),
          },
          'sent',
        ),
    ],
    ['in an object that a message formats', (log) => log.info('sent %o', {url: secret})],
  ]
  for (const format of ['json', 'text'] as const)
    for (const [where, work] of ways)
      it(`${where} is redacted in ${format}`, () => {
        const lines = logged(work, {format})
        assert.equal(lines.length, 1)
        assert.ok(!lines.join('').includes('s3cr3t'), lines.join(''))
      })

  it('is replaced by a placeholder', () => {
    const [record] = records((log) => log.info({url: `http://h/${secret}/x`}, `using ${secret}.`))
    assert.equal(record?.msg, 'using [redacted].')
    assert.equal(record.url, 'http://h/[redacted]/x')
  })

  it('is redacted completely even if another secret is its prefix', () => {
    registerSecret('overlap')
    registerSecret('overlapping-tail')
    assert.equal(redact('overlapping-tail and overlap'), '[redacted] and [redacted]')
  })

  it('must not be short', () => {
    registerSecret('on')
    registerSecret('')
    registerSecret(undefined)
    assert.equal(redact('one on one'), 'one on one')
  })
})

describe('other log data', () => {
  it('includes message, code and stack of an error', () => {
    const fault = Object.assign(new TypeError('no such row'), {code: 'SQLITE_ERROR'})
    const [record] = records((log) => log.error({err: fault}, 'failed'))
    const {message, code, stack, type} = (record?.err ?? {}) as Record<string, unknown>
    assert.deepEqual([message, code, type], ['no such row', 'SQLITE_ERROR', 'TypeError'])
    assert.match(String(stack), /logger\.test/)
  })

  it('has code, message and hint of a known error, without a stack', () => {
    const missing = new SvcError('file_not_found', {path: 'a.svc'})
    const [record] = records((log) => log.warn({err: missing}, 'cannot read'))
    assert.deepEqual(record?.err, {code: missing.code, message: missing.message, hint: missing.hint})
    const [broken] = records((log) => log.error({err: new SvcError('internal', {reason: 'a fault'})}, 'failed'))
    assert.match(JSON.stringify(broken), /logger\.test/)
  })

  it('includes the cause of an error', () => {
    const fault = new Error('cannot open', {cause: new Error('the disk is gone')})
    assert.match(logged((log) => log.error({err: fault}, 'failed')).join(''), /the disk is gone/)
  })

  it('is not modified by redaction', () => {
    const headers = {authorization: 'Bearer abc'}
    logged((log) => log.info({headers}, 'sent'))
    assert.deepEqual(headers, {authorization: 'Bearer abc'})
  })

  it('can contain circular references', () => {
    const self: Record<string, unknown> = {name: 'loop'}
    self.self = self
    assert.match(logged((log) => log.info({self}, 'round')).join(''), /loop/)
  })

  it('formats dates', () => {
    const [record] = records((log) => log.info({at: new Date(0)}, 'then'))
    assert.equal(record?.at, '1970-01-01T00:00:00.000Z')
  })
})
