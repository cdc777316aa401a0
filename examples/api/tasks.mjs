// Queues a task, claims it and completes it: node examples/api/tasks.mjs FOLDER
import {claimTask, completeTask, listTasks, openWorkspace, submitTask} from 'svc-toolkit/tasks'

const workspace = await openWorkspace(process.argv[2] ?? '.')
submitTask(workspace, {description: 'Review the parser', processor: 'external'})
const {task, generation} = await claimTask(workspace, {owner: 'reviewer'})
await completeTask(workspace, task.id, {text: 'Looks fine.'}, {generation})
for (const {display_id, status, result} of listTasks(workspace))
  process.stdout.write(`${display_id} ${status}: ${result?.text}\n`)
workspace.close()
