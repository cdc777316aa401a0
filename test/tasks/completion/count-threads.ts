/** Completes 50 tasks without files, then one with a file. Prints the number of threads started until then for each. */
import {subscribe} from 'node:diagnostics_channel'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {recordBaseline} from '../../../src/tasks/evidence/record-baseline.js'
import {completeTask, submitTask} from '../../../src/tasks/index.js'
import {startNext} from '../../../src/tasks/lifecycle/dispatch.js'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'

let threads = 0
subscribe('worker_threads', () => {
  threads++
})
const ends: (() => unknown)[] = []
const orchestrator = await openTestOrchestrator({after: (end) => void ends.push(end as () => unknown)}, {clock: 'real'})

/** Starts and completes a task as the daemon does. */
async function complete(files: readonly string[]): Promise<void> {
  const {agent_id} = submitTask(orchestrator, {
    description: 'Do the work',
    file_manifest: files.map((path) => ({path, access: 'write'})),
  })
  const started = orchestrator.store.transaction(() => startNext(orchestrator, agent_id, {owner: 'daemon:1'}))
  if (started === undefined) throw new Error('no task started')
  await recordBaseline(orchestrator, started.task)
  for (const path of files) await writeFile(join(orchestrator.root, path), 'Complete.\n')
  const {outcome} = await completeTask(orchestrator, started.task.id, {text: 'Done.'}, started)
  if (outcome !== 'completed') throw new Error(`the task is ${outcome}`)
}

for (let i = 0; i < 50; i++) await complete([])
const withoutFiles = threads
await complete(['notes.txt'])
process.stdout.write(JSON.stringify({withoutFiles, withFile: threads}))
for (const end of ends.reverse()) await end()
