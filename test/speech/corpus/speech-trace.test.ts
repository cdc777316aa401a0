import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {contractSchema, contractViolations} from '../../../src/contracts/index.js'
import {
  appendSpeechTrace,
  failureCategories,
  failureCategoryOf,
  speechTrace,
  spokenCodeFailure,
} from '../../../src/speech/index.js'
import {temporaryFolder} from '../../support/temporary.js'

const contract = 'speech-to-code/speech_trace'

describe('a speech trace', () => {
  it('has only what is known, and matches its contract', async () => {
    const trace = speechTrace({
      sessionId: 's1',
      refinedText: 'add a function',
      readings: ['add a function'],
      rawText: undefined,
    })
    assert.deepEqual(trace, {schema_version: '1', session_id: 's1', refined_transcript: 'add a function'})
    assert.deepEqual(await contractViolations(contract, trace), [])
  })

  it('is appended as one line with everything that is known', async (test) => {
    const path = join(await temporaryFolder(test), 'traces/all.jsonl')
    const trace = speechTrace({
      sessionId: 's1',
      correlationId: 'c1',
      rawText: 'add  a function',
      refinedText: 'add a function',
      readings: ['add a function', 'at a function'],
      intent: {action: 'speech.intent.code_create', slots: {symbol: 'f'}},
      repairAttempts: 1,
      compileOk: false,
      failure: 'syntactic',
      diagnostics: [{code: 'E001', severity: 'error', message: 'unexpected token', start_line: 0, start_character: 4}],
    })
    await appendSpeechTrace(path, trace)
    await appendSpeechTrace(path, trace)
    const [line = '', second, end] = (await readFile(path, 'utf8')).split('\n')
    assert.deepEqual([second, end], [line, ''])
    assert.deepEqual(JSON.parse(line), trace)
    assert.equal(Object.keys(trace).length, 12)
    assert.deepEqual(await contractViolations(contract, trace), [])
    const training = {...trace, svc_code: 'fn f() {}', rating: 5}
    assert.deepEqual(await contractViolations('speech-to-code/speech_trace_training', training), [])
    assert.notDeepEqual(await contractViolations('speech-to-code/speech_trace_training', trace), [])
  })

  for (const [what, change] of [
    ['null alternatives', {transcript_alternatives: null}],
    ['an unknown failure', {failure_category: 'surface_contract'}],
    ['a diagnostic without a message', {diagnostics_snapshot: [{code: 'E001'}]}],
  ] as const)
    it(`with ${what} violates its contract`, async () => {
      const trace = {...speechTrace({sessionId: 's1', refinedText: 'a'}), ...change}
      assert.equal((await contractViolations(contract, trace)).length, 1)
    })
})

describe('the categories of failures', () => {
  it('are the same in all contracts and in the program', () => {
    const {enum: named} = contractSchema('speech-to-code/failure-taxonomy')
    assert.deepEqual(named, failureCategories)
    for (const id of [contract, 'speech-to-code/speech_trace_training']) {
      const {properties, $defs} = contractSchema(id) as {
        properties: Record<string, object>
        $defs: Record<string, {enum: string[]}>
      }
      assert.deepEqual(properties.failure_category, {$ref: '#/$defs/failure_category'})
      assert.deepEqual($defs.failure_category?.enum, named)
    }
  })

  it('include the codes of other parts of the program', () => {
    const codes = ['surface_contract', 'repair_stall', 'semantic', 'acoustic', 'banana', '']
    assert.deepEqual(codes.map(failureCategoryOf), [
      'syntactic',
      'orchestration',
      'semantic',
      'acoustic',
      'unknown',
      'unknown',
    ])
  })

  it('name the cause of a failed request by the confidence of its transcript', () => {
    const failureAt = (compileOk: boolean, confidence: number) =>
      spokenCodeFailure({compileOk, confidence, minConfidence: 0.55})
    assert.deepEqual(
      [failureAt(true, 0.1), failureAt(false, 0.54), failureAt(false, 0.55)],
      [undefined, 'acoustic', 'orchestration'],
    )
  })
})
