import type {Store} from '../../store/index.js'

/** Key of the row of `orch_state` that belongs to the whole store. */
const key = ['', 'repository_id'] as const

/**
 * The repository id of the rows of a store that is part of a workspace. It stays the one with which the store was created: the
 * tasks remain when the directory is renamed, the address of the origin changes, or a backup is restored elsewhere.
 * @param found the id of the directory as it is now
 */
export const keptRepository = (store: Store, found: string): string =>
  kept(store) ?? store.transaction(() => kept(store) ?? keep(store, found))

const kept = (store: Store): string | undefined =>
  store.get<{value: string}>('SELECT value FROM orch_state WHERE repository_id = ? AND key = ?', key)?.value

/** A store without the row has been written by an older version: its latest event has the id that was used last. */
function keep(store: Store, found: string): string {
  const isUsed = store.get('SELECT 1 FROM orch_agents WHERE repository_id = ? LIMIT 1', [found]) !== undefined
  const last = store.get<{id: string}>(
    'SELECT repository_id AS id FROM orch_events ORDER BY orch_events.id DESC LIMIT 1',
  )
  const id = isUsed ? found : (last?.id ?? found)
  store.run('INSERT INTO orch_state (repository_id, key, value) VALUES (?, ?, ?)', [...key, id])
  return id
}
