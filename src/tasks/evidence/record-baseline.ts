import type {WorkspaceContext} from '../../workspace/index.js'
import type {Task} from '../base/task.js'
import {readBaseline, storeBaseline} from './evidence-rows.js'
import {baselineOf} from './inspector.js'

/** Records the state of the files that a started task writes, unless an earlier run did. */
export async function recordBaseline(context: WorkspaceContext, task: Task): Promise<void> {
  const paths = task.file_manifest.flatMap(({path, access}) => (access === 'write' ? [path] : []))
  if (paths.length === 0 || readBaseline(context, task.id) !== undefined) return
  const files = await baselineOf(context.root, paths)
  storeBaseline(context, task.id, {taken_at_ms: task.started_at_ms ?? context.now(), files})
}
