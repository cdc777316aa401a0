import type {WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {Task} from '../tasks/index.js'
import {waitForTask} from './wait-for-task.js'

/**
 * Prints what the command of a task writes, until the task is over, whoever runs it.
 * @throws the reason of the signal
 */
export async function followOutput(
  modules: WorkspaceModules,
  orchestrator: Orchestrator,
  taskId: number,
  {signal, print}: {signal: AbortSignal; print: (text: string) => Promise<void>},
): Promise<Task> {
  let place = modules.tasks.outputStart
  // A slow reader gets its pieces one after the other.
  let printed: Promise<void> = Promise.resolve()
  const look = () => {
    // The task first: what it wrote before its end is there by then.
    const task = modules.tasks.requireTask(orchestrator, taskId)
    const next = modules.tasks.readOutput(orchestrator, taskId, place)
    place = next.place
    if (next.text !== '') printed = printed.then(() => print(next.text))
    // It is awaited at the end; until then a reader that has gone ends the command by its signal.
    printed.catch(() => undefined)
    return task
  }
  const task = await waitForTask(orchestrator, look, {signal, show: () => undefined})
  await printed
  return task
}
