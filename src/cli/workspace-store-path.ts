import {join} from 'node:path'
import type {SettingValues, workspaceSettings} from '../config/index.js'

/** Path of the store with the tasks of a workspace, which `workspace.journey_store` selects. */
export async function workspaceStore(
  root: string,
  settings: SettingValues<(typeof workspaceSettings)['rows']>,
): Promise<string> {
  // The module takes long to load, and few have another store.
  if (settings.journeyStore === 'project') return join(root, '.svc', 'store.db')
  return (await import('../orchestrator/index.js')).storePath(root, settings)
}
