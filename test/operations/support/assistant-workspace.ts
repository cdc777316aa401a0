import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {assistantFragment} from '../../../src/assistant/index.js'
import {readConfigFile} from '../../../src/config/index.js'
import {compileSchema} from '../../../src/contracts/index.js'
import {
  createCall,
  type OperationContext,
  operationNamed,
  type Progress,
  type Surface,
} from '../../../src/operations/index.js'
import * as modules from '../../../src/orchestrator/index.js'
import {type Answer, type ChatCall, inTurn, type Models, scriptedChat} from '../../support/scripted-inference.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

interface Given {
  surface?: Surface
  env?: Readonly<Record<string, string>>
  models?: Models
}

/** A workspace with a model that returns scripted answers, and functions to use it. */
export async function assistantWorkspace(
  test: TestContext,
  answers: string[] | Answer<ChatCall>,
  {surface = 'mcp', env = {}, models}: Given = {},
) {
  const server = await scriptedChat(test, typeof answers === 'function' ? answers : inTurn(...answers), models)
  const root = await temporaryFolder(test)
  await writeFiles(root, {'Svc.toml': '[orchestrator.model_prices]\nrun-a = 0.5\nrun-b = 0.001\n'})
  const sources = {
    file: await readConfigFile(join(root, 'Svc.toml')),
    env: {SVC_DATA_DIR: join(root, 'data'), SVC_INFERENCE_URL: server.baseUrl, SVC_INFERENCE_MODEL: 'run-a', ...env},
  }
  const orchestrator = await modules.openOrchestrator({root, sources, fragments: [assistantFragment]})
  test.after(() => orchestrator.close())
  const progress: Progress[] = []
  const context: OperationContext = {
    modules,
    orchestrator,
    surface,
    version: '0.0.0',
    sources,
    speech: undefined,
    signal: new AbortController().signal,
    report: (update) => progress.push(update),
    notice: () => undefined,
    ask: undefined,
  }
  return {
    server,
    root,
    orchestrator,
    context,
    progress,
    /** Calls an operation and checks the answer against its schema. */
    async call(name: string, params: object, within = context) {
      const row = operationNamed(name)
      const answer = await createCall(row, name).perform(params, within)
      const check = await compileSchema(row.output, name)
      assert.deepEqual(check(answer), [])
      return answer as Readonly<Record<string, never>>
    },
    decisions: () =>
      orchestrator.store
        .all<{surface: string; session_id: string | null; journey_id: string; model_id: string; reason_json: string}>(
          'SELECT surface, session_id, journey_id, model_id, reason_json FROM routing_decisions ORDER BY id',
        )
        .map(({reason_json, ...row}) => ({...row, reason: JSON.parse(reason_json) as Record<string, unknown>})),
  }
}
