import type {OrchestratorRoom} from '../operations/index.js'
import type {Orchestrator, Task} from '../orchestrator/index.js'
import {waitForTask} from './wait-for-task.js'

/**
 * Prints what the command of a task writes, until the task is over, whoever runs it.
 * @throws the reason of the signal
 */
export async function followOutput(
  room: OrchestratorRoom,
  orchestrator: Orchestrator,
  taskId: number,
  {signal, print}: {signal: AbortSignal; print: (text: string) => Promise<void>},
): Promise<Task> {
  let place = room.outputStart
  // A slow reader gets its pieces one after the other.
  let printed: Promise<void> = Promise.resolve()
  const look = () => {
    // The task first: what it wrote before its end is there by then.
    const task = room.requireTask(orchestrator, taskId)
    const next = room.readOutput(orchestrator, taskId, place)
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
