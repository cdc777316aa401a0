import {assistantFragment} from '../../../src/assistant/index.js'
import type {OperationContext} from '../../../src/operations/index.js'
import * as modules from '../../../src/orchestrator/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

/** A context for operations in a temporary workspace. It changes nothing outside and uses no model. */
export async function openContext(
  test: Parameters<typeof temporaryFolder>[0],
  more: Partial<OperationContext> = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<OperationContext> {
  const root = await temporaryFolder(test)
  await writeFiles(root, {'Svc.toml': '[orchestrator]\nmin_agents = 0\n', 'a.ts': 'export const a = 1\n'})
  const env = {SVC_DATA_DIR: `${root}/data`, SVC_INFERENCE_URL: 'http://127.0.0.1:9', ...variables}
  const sources = {env}
  const orchestrator = await modules.openOrchestrator({root, sources, fragments: [assistantFragment]})
  test.after(() => orchestrator.close())
  return {
    modules,
    orchestrator,
    surface: 'daemon',
    version: '0.0.0',
    sources,
    speech: undefined,
    signal: AbortSignal.timeout(30_000),
    report: () => {},
    notice: () => {},
    ask: undefined,
    ...more,
  }
}
