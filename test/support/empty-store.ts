import {copyFile, mkdir, rm, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {openOrchestrator} from '../../src/orchestrator/index.js'
import {once} from './once.js'
import {processFolder} from './temporary.js'

/** A store with the tables of all modules, created once per process. */
const emptyStore = once(async () => {
  const root = processFolder()
  const {store, close} = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: join(root, 'data')}}})
  // Each workspace that gets a copy has a repository of its own.
  store.run("DELETE FROM orch_state WHERE repository_id = ''")
  close()
  return store.path
})

/** Puts an empty task store into a new workspace. Creating its tables there would take longer than many tests. */
export async function addEmptyStore(root: string): Promise<void> {
  const path = join(root, '.svc', 'store.db')
  await mkdir(dirname(path), {mode: 0o700})
  await copyFile(await emptyStore(), path)
}

/** Makes the store of a workspace unusable: a file is where its folder should be. */
export async function breakStore(root: string): Promise<void> {
  await rm(join(root, '.svc'), {recursive: true, force: true})
  await writeFile(join(root, '.svc'), 'in the way')
}
