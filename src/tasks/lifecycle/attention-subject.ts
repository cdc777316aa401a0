import type {ManifestEntry} from '../../contracts/index.js'
import {priorities} from '../../workspace/index.js'
import {writesOf} from '../locks.js'
import type {TaskRow} from './task-rows.js'

/** The parts of a stored task that the attention of the user depends on. */
export function attentionSubject(row: TaskRow) {
  const files = JSON.parse(row.file_manifest) as ManifestEntry[]
  const {id, description, complexity, approval_tier, agent_id, agent_name} = row
  return {
    id,
    description,
    complexity,
    priority: priorities[row.priority],
    files: files.length,
    writes: writesOf(files).length,
    tier: approval_tier ?? undefined,
    agent: {id: agent_id, name: agent_name},
  }
}
