/**
 * Submits tasks until it is killed or done: `submitter ROOT NAME COUNT SEED`. Prints a line with key and id for each
 * task after its call has returned. A restarted submitter submits everything again with the same keys.
 */
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {readConfigFile} from '../../../src/config/index.js'
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {submitBatch, submitTask} from '../../../src/tasks/index.js'
import {planCalls} from './submissions.js'

const [root = '', name = '', count = '', seed = ''] = process.argv.slice(2)
const orchestrator = await openOrchestrator({
  root,
  sources: {env: process.env, file: await readConfigFile(join(root, 'Svc.toml'))},
})
const ids = new Map<string, number>()
for (const {tasks, isBatch, pauseMs} of planCalls(name, Number(count), Number(seed))) {
  const submissions = tasks.map(({submission, after}) => ({
    ...submission,
    depends_on: after.map((key) => ids.get(key) as number),
  }))
  const accepted = isBatch
    ? submitBatch(orchestrator, submissions)
    : submissions.map((submission) => submitTask(orchestrator, submission))
  const lines = accepted.map(({task_id: id}, i) => {
    const key = submissions[i]?.idempotency_key ?? ''
    ids.set(key, id)
    return `${key} ${id}\n`
  })
  process.stdout.write(lines.join(''))
  if (accepted.some(({duplicate}) => duplicate !== true)) await sleep(pauseMs)
}
orchestrator.close()
