import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {assistantFragment} from '../../src/assistant/index.js'
import {compileSchema, contractViolations, type TranscribeV1} from '../../src/contracts/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {createCall, type OperationContext, operationNamed, type SpeechPort} from '../../src/operations/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {speechToCode} from '../../src/voice/speech-to-code.js'
import {inTurn, scriptedChat} from '../support/scripted-inference.js'
import {temporaryFolder} from '../support/temporary.js'

const program = '@table type Note { title: str }\n'
const heard = {
  raw_text: 'create  a table of notes',
  refined_text: 'create a table of notes',
  confidence: 0.4,
  n_best: ['create a table of notes', 'create  a table of notes'],
}

/** A workspace whose model returns scripted answers, and whose recordings all have the same text. */
async function workspace(test: TestContext, answers: string[]) {
  const server = await scriptedChat(test, inTurn(...answers))
  const root = await temporaryFolder(test)
  const sources = {env: {SVC_DATA_DIR: join(root, 'data'), SVC_INFERENCE_URL: server.baseUrl}}
  const orchestrator = await modules.openOrchestrator({root, sources, fragments: [assistantFragment]})
  test.after(() => orchestrator.close())
  const speech: SpeechPort = {
    transcribe: async () => heard as unknown as TranscribeV1,
    listen: () => assert.fail(),
    speechToCode,
    status: () => assert.fail(),
  }
  const context: OperationContext = {
    ...{modules, orchestrator, surface: 'mcp', version: '0.0.0', sources, speech},
    signal: new AbortController().signal,
    report: () => undefined,
    notice: () => undefined,
    ask: undefined,
  }
  const row = operationNamed('speech_to_code')
  return {
    root,
    async call(params: object) {
      const answer = (await createCall(row, row.name).perform(params, context)) as Answer
      assert.deepEqual((await compileSchema(row.output, row.name))(answer), [])
      assert.deepEqual(await contractViolations('speech-to-code/speech_trace', answer.speech_trace), [])
      return answer
    },
  }
}

interface Answer {
  transcript: object
  route?: {action: string; status: string}
  generate: {code?: string; error?: {code: string}}
  speech_trace: Readonly<Record<string, unknown>>
}

describe('speech_to_code', () => {
  it('generates a program from a recording, and appends a trace', async (test) => {
    const {call, root} = await workspace(test, [program])
    const {
      transcript,
      route,
      generate,
      speech_trace: trace,
    } = await call({path: 'a.wav', emit_trace_path: 'out/t.jsonl'})
    assert.deepEqual(transcript, heard)
    assert.equal(route?.status, 'below_tool_confidence')
    assert.equal(generate.code, program)
    const {session_id: _, correlation_id: __, ...rest} = trace
    assert.deepEqual(rest, {
      schema_version: '1',
      raw_transcript: heard.raw_text,
      refined_transcript: heard.refined_text,
      transcript_alternatives: heard.n_best,
      intent_action: 'none',
      intent_slots: {},
      repair_attempts: 0,
      compile_ok: true,
    })
    assert.deepEqual(JSON.parse(await readFile(join(root, 'out', 't.jsonl'), 'utf8')), trace)
  })

  it('reports why there is no valid program', async (test) => {
    const wrong = '@table type Note { title: strin }\n'
    const {call} = await workspace(test, [wrong, wrong])
    const {generate, speech_trace: trace} = await call({path: 'a.wav', max_retries: 0, include_route: false})
    assert.equal(generate.error?.code, 'validation_failed')
    assert.deepEqual([trace.compile_ok, trace.failure_category], [false, 'acoustic'])
    const [finding] = trace.diagnostics_snapshot as {start_line: number}[]
    assert.equal(finding?.start_line, 0)
  })

  it('takes a text instead of a recording', async (test) => {
    const {call} = await workspace(test, [program])
    const {route, speech_trace: trace} = await call({prompt: 'create a function called notes', validate: false})
    assert.deepEqual([route?.action, route?.status], ['speech.intent.code_create', 'intent_matched'])
    assert.deepEqual(
      [trace.compile_ok, trace.intent_slots],
      [undefined, {symbol_name: 'notes', ast_target: {node_kind: 'function', symbol_name: 'notes', at_cursor: false}}],
    )
  })

  it('rejects both and neither', async (test) => {
    const {call} = await workspace(test, [])
    for (const params of [{}, {path: 'a.wav', prompt: 'x'}])
      await assert.rejects(call(params), (error) => isErrorOf(error, 'params_invalid'))
  })
})
