import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {type Orchestrator, openOrchestrator} from '../../../src/orchestrator/index.js'

/** An orchestrator with a database file and the default settings. */
export async function withOrchestrator<T>(
  env: Readonly<Record<string, string>>,
  use: (orchestrator: Orchestrator) => Promise<T>,
): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const orchestrator = await openOrchestrator({root, sources: {env}})
  try {
    return await use(orchestrator)
  } finally {
    orchestrator.close()
    await rm(root, {recursive: true})
  }
}
