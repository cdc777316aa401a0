import assert from 'node:assert/strict'
import {readdir, readFile} from 'node:fs/promises'
import {isAbsolute, join, relative} from 'node:path'
import {describe, it} from 'node:test'
import {inspect} from 'node:util'
import {listDocuments} from '../../src/contracts/catalogue.js'
import {
  assertContract,
  type Contract,
  compileComponents,
  compileSchema,
  contractSchema,
  contractsFolder,
  contractViolations,
  type ExternalServingHandoffV1,
  findContract,
  findSchema,
  listContracts,
  readDocument,
} from '../../src/contracts/index.js'
import {checkDocument} from '../../src/contracts/validate.js'
import {Exit, isErrorOf} from '../../src/errors/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const contracts = await listContracts()
const schemas = await listContracts('schema')
const openApis = await listContracts('openapi')
const documents = await listDocuments()

describe('the catalogue of contracts', () => {
  it('lists every file of the folder by kind, and no missing files', async () => {
    const files = await readdir(contractsFolder, {recursive: true})
    const named = (rows: readonly Contract[]) => rows.map(({file}) => relative(contractsFolder, file)).sort()
    const kindOf = (file: string) => {
      if (file.endsWith('.schema.json')) return 'schema'
      if (file.endsWith('.openapi.yaml')) return 'openapi'
      return /\.(ya?ml|json)$/.test(file) && file !== 'index.yaml' ? 'document' : undefined
    }
    for (const kind of ['schema', 'openapi', 'document'] as const)
      assert.deepEqual(named(await listContracts(kind)), files.filter((file) => kindOf(file) === kind).sort())
    assert.equal(schemas.length + openApis.length + documents.length, contracts.length)
    for (const {file} of contracts) assert.notEqual((await readFile(file, 'utf8')).trim(), '', file)
  })

  it('gives each contract unique names, an absolute path and a summary', () => {
    const names = contracts.flatMap(({id, aliases}) => [id, ...aliases])
    assert.equal(new Set(names).size, names.length)
    for (const {id, file, summary} of contracts) {
      assert.ok(isAbsolute(file), id)
      assert.match(summary, /^[A-Z][^\n]*\.$/, id)
    }
  })

  it('finds a contract by id and alias', async () => {
    const byId = await findContract('eval/external-serving-handoff')
    assert.equal(byId.file, join(contractsFolder, 'eval/external-serving-handoff.schema.json'))
    assert.equal(await findContract('external_serving_handoff_v1'), byId)
  })

  for (const [id, suggestion] of [
    ['cli/eror.v1', 'cli/error.v1'],
    ['external_serving_handof_v1', 'external_serving_handoff_v1'],
    ['banana', undefined],
    ['', undefined],
  ] as const)
    it(`rejects the unknown id "${id}"${suggestion === undefined ? '' : ` and suggests ${suggestion}`}`, async () => {
      for (const work of [findContract(id), contractViolations(id, {}), assertContract(id, {}, 'x.json')])
        await assert.rejects(work, (error) => {
          assert.ok(isErrorOf(error, 'contract_unknown'))
          assert.equal(error.params.suggestion, suggestion)
          assert.equal(error.exit, Exit.notFound)
          return true
        })
    })
})

describe('every schema', () => {
  for (const {id, file} of schemas) {
    it(`${id} is a draft 2020-12 schema with its own id`, async () => {
      const {$schema, $id, title, description} = JSON.parse(await readFile(file, 'utf8'))
      assert.equal($schema, 'https://json-schema.org/draft/2020-12/schema')
      assert.equal($id, `urn:svc:contract:${id}`)
      assert.match(title, /^[A-Z][A-Za-z0-9]+$/)
      assert.notEqual(description ?? '', '')
    })

    it(`${id} is self-contained`, async () => {
      const references = (await readFile(file, 'utf8')).matchAll(/"\$ref": *"([^"]*)"/g)
      for (const [, reference = ''] of references) assert.match(reference, /^#\/\$defs\//)
    })

    it(`${id} compiles, and rejects a number`, async () => {
      assert.notDeepEqual(await contractViolations(id, 42), [])
    })
  }
})

describe('a schema with definitions', () => {
  it('reports a violation of a definition with its path in the document', async () => {
    const warning = {code: 'unknown_setting', subject: 'a.b', message: 'It is not a setting.', line: 7}
    const document = {ok: true, root: '/w', file: null, warnings: [warning]}
    assert.deepEqual(await contractViolations('cli/config-check.v1', document), [
      '/warnings/0 has an unknown member "line"',
    ])
  })
})

describe('every OpenAPI document', () => {
  for (const contract of openApis) {
    const {id, file} = contract
    it(`${id} describes routes, and its schemas compile`, async () => {
      const {openapi, info, paths} = (await readDocument(await readFile(file, 'utf8'), file)) as Record<string, object>
      assert.match(String(openapi), /^3\.1\.\d$/)
      assert.deepEqual([typeof info, typeof paths], ['object', 'object'])
      assert.ok((await compileComponents(contract)).size > 0)
    })

    it(`${id} cannot be used to validate a document`, async () => {
      for (const work of [findSchema(id), contractViolations(id, {}), assertContract(id, {}, 'x.json')])
        await assert.rejects(work, (error) => {
          assert.ok(isErrorOf(error, 'usage'))
          assert.match(error.message, new RegExp(`^The contract ${id} describes routes, .*\\.$`))
          return true
        })
    })
  }

  for (const [defect, source] of [
    ['an unknown keyword', 'components: {schemas: {A: {typ: string}}}'],
    ['a broken reference', "components: {schemas: {A: {$ref: '#/components/schemas/B'}}}"],
    ['an unknown type', 'components: {schemas: {A: {type: text}}}'],
    ['no components', 'paths: {}'],
    ['invalid YAML', 'a: b: c'],
  ] as const)
    it(`is contract_broken with ${defect}`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeFiles(folder, {'x.openapi.yaml': source})
      const contract = {id: 'x.openapi', file: join(folder, 'x.openapi.yaml'), summary: '', aliases: []}
      await assert.rejects(compileComponents(contract), (error) => isErrorOf(error, 'contract_broken'))
    })
})

describe('every document', () => {
  for (const document of documents) {
    const {
      contract: {id, file},
      schema,
    } = document
    it(`${id} is named after its file, and matches ${schema}`, async () => {
      assert.equal(file, join(contractsFolder, id))
      await checkDocument(document)
    })

    it(`${id} is not a schema, and the error names its schema`, async () => {
      for (const work of [findSchema(id), contractViolations(id, {}), assertContract(id, {}, 'x.json')])
        await assert.rejects(work, (error) => {
          assert.ok(isErrorOf(error, 'usage'))
          assert.equal(error.message, `The contract ${id} is a document; its schema is ${schema}.`)
          return true
        })
      assert.equal((await findSchema(schema)).id, schema)
    })
  }

  for (const [defect, schema, source, code] of [
    ['does not match its schema', 'cli/contracts-validate.v1', 'ok: false', 'contract_violation'],
    ['is not YAML', 'cli/contracts-validate.v1', 'a: b: c', 'document_unparsable'],
    ['has an unknown schema', 'cli/nothing.v1', 'ok: true', 'contract_unknown'],
    ['has no schema', '', 'ok: true', 'contract_unknown'],
  ] as const)
    it(`that ${defect} is rejected with ${code}`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeFiles(folder, {'facts.yaml': source})
      const contract = {id: 'facts.yaml', file: join(folder, 'facts.yaml'), summary: '', aliases: []}
      await assert.rejects(checkDocument({contract, schema}), (error) => isErrorOf(error, code))
    })
})

describe('compileSchema', () => {
  const withId = (type: string) => ({$id: 'urn:test:same', type: 'object', properties: {a: {type}}})
  const withDefs = (type: string) => ({$ref: '#/$defs/a', $defs: {a: {type}}})

  for (const [what, make] of [
    ['$id', withId],
    ['names of definitions', withDefs],
  ] as const)
    it(`separates schemas with the same ${what}`, async () => {
      const [text, number] = await Promise.all([compileSchema(make('string'), 'x'), compileSchema(make('number'), 'y')])
      const value = (of: unknown) => (make === withId ? {a: of} : of)
      assert.deepEqual([text(value('x')).length, text(value(1)).length], [0, 1])
      assert.deepEqual([number(value('x')).length, number(value(1)).length], [1, 0])
    })

  it('accepts the schema of a contract', async () => {
    const contract = contractSchema('orchestration/submit-task.v1')
    await contractViolations('orchestration/submit-task.v1', {})
    assert.ok((await compileSchema(contract, 'x'))({}).length > 0)
  })
})

describe('a hand-off document', () => {
  const id = 'eval/external-serving-handoff'
  const good: ExternalServingHandoffV1 = {
    schema: 'svc_external_serving_handoff_v1',
    schema_version: 1,
    backend_family: 'openai-compatible',
    base_model: 'acme/small-base',
    tokenizer_source: '/runs/r7/tokenizer.json',
    artifact_dir: '/runs/r7',
    prompt_format: 'qwen_chatml_im_start',
  }
  const full: ExternalServingHandoffV1 = {
    ...good,
    adapter_path: 'adapter.safetensors',
    openai_base_url: 'http://127.0.0.1:11435/v1',
    notes: 'Serve with: svc serve --model /runs/r7',
  }

  for (const [kind, document] of [
    ['with required members only', good],
    ['with all members', full],
    ['with null for optional members', {...good, adapter_path: null, openai_base_url: null, notes: null}],
  ] as const)
    it(`${kind} is valid`, async () => {
      assert.deepEqual(await contractViolations(id, document), [])
      await assertContract('external_serving_handoff_v1', document, 'handoff.json')
    })

  for (const backend of ['vllm', 'ollama', 'hf-transformers', 'openai-compatible', 'other'])
    it(`for ${backend} is valid`, async () => {
      assert.deepEqual(await contractViolations(id, {...good, backend_family: backend}), [])
    })

  const required = Object.keys(good)
  const texts = ['base_model', 'tokenizer_source', 'artifact_dir', 'prompt_format']
  const optional = ['adapter_path', 'openai_base_url', 'notes']
  const backends = '["vllm","ollama","hf-transformers","openai-compatible","other"]'
  const defects: [change: Record<string, unknown>, violation: string][] = [
    ...required.map((name): [Record<string, unknown>, string] => [
      {[name]: undefined},
      `the document must have required property '${name}'`,
    ]),
    ...texts.map((name): [Record<string, unknown>, string] => [
      {[name]: ''},
      `/${name} must NOT have fewer than 1 characters`,
    ]),
    ...texts.map((name): [Record<string, unknown>, string] => [{[name]: 7}, `/${name} must be string`]),
    ...optional.map((name): [Record<string, unknown>, string] => [{[name]: 7}, `/${name} must be string,null`]),
    [{schema: 'something_else_v1'}, '/schema must be "svc_external_serving_handoff_v1"'],
    [{schema_version: 2}, '/schema_version must be 1'],
    [{schema_version: '1'}, '/schema_version must be 1'],
    [{backend_family: 'tgi'}, `/backend_family must be one of ${backends}`],
    [{extra: true}, 'the document has an unknown member "extra"'],
  ]
  for (const [change, violation] of defects)
    it(`changed to ${inspect(change)} is invalid: ${violation}`, async () => {
      const document = JSON.parse(JSON.stringify({...full, ...change}))
      assert.deepEqual(await contractViolations(id, document), [violation])
    })

  it('is rejected with its name, its contract and all violations', async () => {
    const document = {...good, schema_version: 2, base_model: ''}
    await assert.rejects(assertContract(id, document, 'run/handoff.json'), (error) => {
      assert.ok(isErrorOf(error, 'contract_violation'))
      assert.equal(error.exit, Exit.failed)
      assert.ok(error.message.startsWith(`run/handoff.json does not match the contract ${id}: `))
      assert.match(error.message, /\/schema_version must be 1/)
      assert.match(error.message, /\/base_model must NOT have fewer than 1 characters/)
      return true
    })
  })

  it('with many violations is rejected with the first ones and the number of the rest', async () => {
    const extra = Object.fromEntries(Array.from({length: 20}, (_, i) => [`extra${i}`, i]))
    const violations = await contractViolations(id, {...good, ...extra})
    assert.equal(violations.length, 9)
    assert.equal(violations.at(-1), 'and 12 more')
  })
})

describe('the violations of a value', () => {
  const schema = {type: 'object', additionalProperties: false}
  const members = (count: number) => Object.fromEntries(Array.from({length: count}, (_, i) => [`m${i}`, i]))

  for (const [count, last] of [
    [8, 'the document has an unknown member "m7"'],
    [9, 'and 1 more'],
  ] as const)
    it(`end with ${last} if there are ${count}`, async () => {
      assert.equal((await compileSchema(schema, 'x'))(members(count)).at(-1), last)
    })
})

describe('readDocument', () => {
  it('parses JSON, or YAML by file extension', async () => {
    assert.deepEqual(await readDocument('{"a": [1, null]}', 'a.json'), {a: [1, null]})
    assert.deepEqual(await readDocument('{"a": 1}', 'standard input'), {a: 1})
    for (const name of ['a.yaml', 'a.yml'])
      assert.deepEqual(await readDocument('a:\n  - 1\n  - x: y\n', name), {a: [1, {x: 'y'}]})
  })

  for (const [name, source] of [
    ['a.json', '{"a": '],
    ['a.json', ''],
    ['a.json', 'a: 1'],
    ['standard input', 'a: 1'],
    ['a.yaml', 'a: b: c'],
    ['a.yaml', 'a: [1'],
  ] as const)
    it(`rejects ${name} with the content ${JSON.stringify(source)}`, async () => {
      await assert.rejects(
        () => readDocument(source, name),
        (error: Error) => {
          assert.ok(isErrorOf(error, 'document_unparsable'))
          assert.match(error.message, new RegExp(`^Cannot parse ${name}: [^\\n]*[^.:\\n]\\.$`))
          return true
        },
      )
    })
})
