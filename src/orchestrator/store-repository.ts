import {isWithin} from '../files/index.js'
import {repositoryId, type Store} from '../store/index.js'
import type {ActiveStore, StorePlaces} from './open.js'

/** Key of the row of `orch_state` that belongs to the whole store. */
const key = ['', 'repository_id'] as const

/**
 * The repository id of the rows of a workspace. A store that is part of a workspace keeps the id with which it was created:
 * its tasks remain when the directory is renamed, the address of the origin changes, or a backup is restored elsewhere. A
 * store of several workspaces, and a configured repository, have the id of the directory as it is now.
 */
export function storeRepository(
  store: Store,
  {root, places, active}: {root: string; places: StorePlaces; active: ActiveStore},
): string {
  const found = repositoryId(places.repositoryRoot ?? root)
  const isOfWorkspace = active === 'project' || (active === 'file' && isWithin(root, store.path))
  if (!isOfWorkspace || places.repositoryRoot !== undefined) return found
  return kept(store) ?? store.transaction(() => kept(store) ?? keep(store, found))
}

const kept = (store: Store): string | undefined =>
  store.get<{value: string}>('SELECT value FROM orch_state WHERE repository_id = ? AND key = ?', key)?.value

/** A store without the row has been written by an older version: its latest event has the id that was used last. */
function keep(store: Store, found: string): string {
  const id =
    store.get<{repository_id: string}>('SELECT repository_id FROM orch_agents WHERE repository_id = ? LIMIT 1', [found])
      ?.repository_id ??
    store.get<{repository_id: string}>('SELECT repository_id FROM orch_events ORDER BY id DESC LIMIT 1')
      ?.repository_id ??
    found
  store.run('INSERT INTO orch_state (repository_id, key, value) VALUES (?, ?, ?)', [...key, id])
  return id
}
