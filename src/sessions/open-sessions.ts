import {resolve} from 'node:path'
import type {WorkspaceContext} from '../workspace/index.js'
import {fileJournal} from './file-journal.js'
import {memoryJournal} from './memory-journal.js'
import {rowJournal} from './row-journal.js'
import {Sessions} from './sessions.js'

/**
 * Opens the sessions of a workspace. They are stored in the database, and sessions in files are imported on access. If
 * the store is in memory, they are stored in files.
 */
export function openSessions({
  store,
  isKept,
  repositoryId: own,
  root,
  config,
  now,
  random,
}: WorkspaceContext): Sessions {
  const {sessionsDir, persist, repositoryId = own, ...timers} = config.session
  const limits = {...timers, compaction: config.compaction}
  const files = fileJournal(resolve(root, sessionsDir), repositoryId)
  if (!persist) return new Sessions({journal: memoryJournal(), ...limits, now, random})
  if (!isKept) return new Sessions({journal: files, ...limits, now, random})
  return new Sessions({journal: rowJournal(store, repositoryId), older: files, ...limits, now, random})
}

/** Shared sessions by context, so that sessions without a journal live as long as the process. */
const opened = new WeakMap<WorkspaceContext, Sessions>()

/** As `openSessions`, but opens the sessions of a context only once. */
export function sessionsOf(context: WorkspaceContext): Sessions {
  const found = opened.get(context) ?? openSessions(context)
  opened.set(context, found)
  return found
}
