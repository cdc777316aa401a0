import {assistantFragment} from '../assistant/index.js'
import type {SettingSources} from '../config/index.js'
import {type Orchestrator, openOrchestrator} from '../orchestrator/index.js'
import type {Fragment} from '../store/index.js'

/**
 * Opens the orchestrator of a workspace. Its store contains the tables of all modules. Commands import this file late: it
 * contains what opens the store, but not the other functions of the modules.
 * @param tables further tables, which only this process uses
 */
export const openStore = (
  root: string,
  sources: SettingSources,
  tables: readonly Fragment[] = [],
): Promise<Orchestrator> => openOrchestrator({root, sources, fragments: [assistantFragment, ...tables]})
