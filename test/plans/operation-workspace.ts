import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {readConfigFile} from '../../src/config/index.js'
import {compileSchema} from '../../src/contracts/index.js'
import {createCall, type OperationContext, operationNamed, type Progress} from '../../src/operations/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {type Answer, answerLines, type GenerateCall, scriptedInference} from '../support/scripted-inference.js'
import {unattended} from './support.js'

interface Given {
  env?: Readonly<Record<string, string>>
  toml?: string
  /** Scripted answers of the model, in order; if omitted, no server runs. */
  answers?: readonly string[]
  answer?: Answer
  signal?: AbortSignal
  surface?: OperationContext['surface']
}

/** A workspace with its operations and a scripted model. Steps of plans are external tasks that need no approval. */
export async function operationWorkspace(
  t: TestContext,
  {toml = unattended, env = {}, answers = [], answer, signal, surface = 'mcp'}: Given = {},
) {
  const inTurn: Answer = (response, _call, count) =>
    response.end(answerLines(answers[count - 1] ?? 'enough', {prompt_eval_count: 100, eval_count: 100}))
  const isServed = answers.length > 0 || answer !== undefined
  const server = isServed ? await scriptedInference(t, answer ?? inTurn) : undefined
  const orchestrator = await openTestOrchestrator(t, {toml, env})
  const notices: string[] = []
  const progress: Progress[] = []
  const context: OperationContext = {
    modules,
    orchestrator,
    surface,
    version: '0',
    sources: {
      env: {SVC_INFERENCE_URL: server?.baseUrl ?? 'http://127.0.0.1:1'},
      file: await readConfigFile(join(orchestrator.root, 'Svc.toml')),
    },
    speech: undefined,
    signal: signal ?? new AbortController().signal,
    report: (each) => progress.push(each),
    notice: (text) => notices.push(text),
    ask: undefined,
  }
  return {
    orchestrator,
    notices,
    progress,
    context,
    calls: (server?.calls ?? []) as (GenerateCall & {options: {top_p?: number}})[],
    hungUp: server?.hungUp,
    /** Calls an operation; validates its result and that of its tool against their schemas. */
    // biome-ignore lint/suspicious/noExplicitAny: the answers are looked at member by member
    async call(name: string, input: object, within = context): Promise<any> {
      const row = operationNamed(name)
      const result = await createCall(row, name).perform(input, within)
      assert.deepEqual((await compileSchema(row.output, name))(result), [])
      const {tool} = row.bindings
      if (tool?.output === undefined) return result
      const shown = await (tool.present as ((output: unknown) => unknown) | undefined)?.(result)
      assert.deepEqual((await compileSchema(tool.output, name))(shown), [])
      return {result, shown}
    },
  }
}
