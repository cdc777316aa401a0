import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {type Orchestrator, openOrchestrator} from '../orchestrator/index.js'

/** Creates a folder, and deletes it after use. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    return await use(folder)
  } finally {
    await rm(folder, {recursive: true})
  }
}

/** An orchestrator with a database file and the default settings, which is deleted after use. */
export const withOrchestrator = <T>(
  env: Readonly<Record<string, string>>,
  use: (orchestrator: Orchestrator) => Promise<T>,
): Promise<T> =>
  withFolder(async (root) => {
    const orchestrator = await openOrchestrator({root, sources: {env}})
    try {
      return await use(orchestrator)
    } finally {
      orchestrator.close()
    }
  })
