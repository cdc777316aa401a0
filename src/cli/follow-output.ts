import type {WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {Task} from '../tasks/index.js'
import {waitForTask} from './wait-for-task.js'

/**
 * Prints the output of a task's command as it is written, until the task is finished.
 * @throws the abort reason of the signal
 */
export async function followOutput(
  modules: WorkspaceModules,
  orchestrator: Orchestrator,
  taskId: number,
  {signal, print}: {signal: AbortSignal; print: (text: string) => Promise<void>},
): Promise<Task> {
  let position: ReturnType<typeof modules.tasks.readOutput>['place'] | undefined
  // Pieces are printed one after another, even if the reader is slow.
  let printed: Promise<void> = Promise.resolve()
  const look = () => {
    // Reads the task first: if it is finished, all its output is stored.
    const task = modules.tasks.requireTask(orchestrator, taskId)
    const next = modules.tasks.readOutput(orchestrator, taskId, position)
    position = next.place
    if (next.text !== '') printed = printed.then(() => print(next.text))
    // A rejection is handled when `printed` is awaited below; until then the signal ends the command.
    printed.catch(() => undefined)
    return task
  }
  const task = await waitForTask(orchestrator, look, {signal, show: () => undefined})
  await printed
  return task
}
