import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {describe, it} from 'node:test'
import {type ContractsListV1, contractViolations} from '../../src/contracts/index.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const handoff = {
  schema: 'svc_external_serving_handoff_v1',
  schema_version: 1,
  backend_family: 'openai-compatible',
  base_model: 'acme/small-base',
  tokenizer_source: '/runs/r7/tokenizer.json',
  artifact_dir: '/runs/r7',
  prompt_format: 'qwen_chatml_im_start',
}

describe('svc contracts list', () => {
  it('lists all contracts', async () => {
    const {stdout} = await svcInTurn(['contracts', 'list', '--json'])
    const contracts = JSON.parse(stdout) as ContractsListV1
    assert.deepEqual(await contractViolations('cli/contracts-list.v1', contracts), [])
    assert.ok(contracts.every(({file}) => existsSync(file)))
    const {stdout: text} = await svcInTurn(['contracts', 'list'])
    for (const {id} of contracts) assert.ok(text.includes(id), id)
  })
})

describe('svc contracts validate', () => {
  it('checks the contracts themselves without arguments', async () => {
    const {stdout, exitCode} = await svcInTurn(['contracts', 'validate', '--json'])
    const result = JSON.parse(stdout)
    assert.deepEqual(await contractViolations('cli/contracts-validate.v1', result), [])
    assert.deepEqual([result, exitCode], [{ok: true, contract: null, documents: []}, 0])
    assert.match((await svcInTurn(['contracts', 'validate'])).stdout, /^\d+ contracts: ok\n$/)
  })

  it('accepts valid JSON and YAML documents, by contract id and alias', async (test) => {
    const folder = await temporaryFolder(test)
    const yaml = Object.entries(handoff).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    await writeFiles(folder, {'a.json': JSON.stringify(handoff), 'b.yaml': yaml.join('')})
    const {stdout, exitCode} = await svcInTurn(
      ['contracts', 'validate', 'external_serving_handoff_v1', 'a.json', 'b.yaml', '--json'],
      {cwd: folder},
    )
    const result = JSON.parse(stdout)
    assert.deepEqual(await contractViolations('cli/contracts-validate.v1', result), [])
    assert.deepEqual(result.documents, ['a.json', 'b.yaml'])
    assert.equal(exitCode, 0)
  })

  it('reads a document from standard input', async () => {
    const input = JSON.stringify(handoff)
    const {stdout} = await svcInTurn(['contracts', 'validate', 'eval/external-serving-handoff', '-'], {input})
    assert.equal(stdout, '-: ok\n')
  })

  it('reports the location of the first error in a document', async () => {
    const input = JSON.stringify({...handoff, backend_family: 'tgi', extra: 1})
    const {stderr, exitCode} = await svcInTurn(['contracts', 'validate', 'eval/external-serving-handoff', '-'], {input})
    assert.match(stderr, /unknown member "extra"/)
    assert.match(stderr, /\/backend_family must be one of \["vllm"/)
    assert.equal(exitCode, 1)
  })

  it('reports missing and unreadable documents', async (test) => {
    const folder = await temporaryFolder(test)
    const run = (...args: string[]) => svcInTurn(['contracts', 'validate', ...args], {cwd: folder, input: '{"a":'})
    const unknown = await run('cli/eror.v1', '-')
    assert.match(unknown.stderr, /Unknown contract cli\/eror\.v1\. Did you mean cli\/error\.v1\?/)
    assert.equal(unknown.exitCode, 3)
    const absent = await run('cli/error.v1', 'none.json')
    assert.match(absent.stderr, /none\.json does not exist.*\(file_not_found\)/)
    assert.equal(absent.exitCode, 3)
    const directory = await run('cli/error.v1', folder)
    assert.match(directory.stderr, /it is a directory\. \(file_unreadable\)/)
    const broken = await run('cli/error.v1', '-')
    assert.match(broken.stderr, /Cannot parse standard input: .*\(document_unparsable\)/)
    const missing = await run('cli/error.v1')
    assert.match(missing.stderr, /No document to check against cli\/error\.v1\. \(usage\)/)
    assert.equal(missing.exitCode, 2)
  })
})
