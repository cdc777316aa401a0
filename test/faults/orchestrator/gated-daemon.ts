import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {readConfigFile} from '../../../src/config/index.js'
import {type Orchestrator, openOrchestrator} from '../../../src/orchestrator/index.js'
import {submitTask} from '../../../src/tasks/index.js'
import type {Program} from '../../support/program.js'
import {projectFile} from '../../support/project.js'
import {writeFiles} from '../../support/temporary.js'
import {until} from '../../support/until.js'
import {gateFaults, invalidReceipts} from '../../tasks/completion/gate-invariants.js'
import {checkIntegrity, readStore} from './evidence.js'
import {readJournal, stillAtWork} from './journal.js'
import {oracles} from './oracles.js'
import {startNode, temporaryWorkspace} from './process.js'

const settings = `[orchestrator]
max_agents = 4
default_processor = "exec"
behavioral_gate_on_complete = true
behavioral_gate_command = ["check"]
max_debug_iterations = 2

[orchestrator.exec]
enabled = true

[orchestrator.exec.templates]
work = ["true"]
check = ["sh", "check.sh"]
`

/**
 * A slow check, which writes the journal and does not end while a file `hold` exists. It refuses every third task until
 * it has run to its end once, and every seventh task always.
 */
const check = `echo "start $SVC_TASK_ID $SVC_TASK_ATTEMPT $$" >> journal.txt
sleep 0.2
while [ -e hold ]; do sleep 0.05; done
echo "end $SVC_TASK_ID $SVC_TASK_ATTEMPT" >> journal.txt
if [ $((SVC_TASK_ID % 7)) = 0 ]; then exit 1; fi
if [ $((SVC_TASK_ID % 3)) = 0 ] && mkdir "refused-$SVC_TASK_ID" 2> /dev/null; then exit 1; fi
`

/** The end of a task with this id if each of its evaluations is stored. */
export const endOf = (id: number): 'Completed' | 'Failed' => (id % 7 === 0 ? 'Failed' : 'Completed')

export async function openWorkspace(test: Pick<TestContext, 'after'>, root: string): Promise<Orchestrator> {
  const file = await readConfigFile(join(root, 'Svc.toml'))
  const orchestrator = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: join(root, 'data')}, file}})
  test.after(() => orchestrator.close())
  return orchestrator
}

/** A workspace with queued tasks whose completion is gated by a slow check. */
export async function gatedTasks(
  test: Pick<TestContext, 'after'>,
  count: number,
): Promise<{root: string; orchestrator: Orchestrator}> {
  const root = await temporaryWorkspace(test, settings)
  await writeFiles(root, {'check.sh': check})
  const orchestrator = await openWorkspace(test, root)
  for (let i = 0; i < count; i++)
    submitTask(orchestrator, {
      description: `work ${i}`,
      exec: {template: 'work'},
      target_agent: ['ada', 'bob', 'cy'][i % 3] as string,
    })
  return {root, orchestrator}
}

/** Moments of a completion at which a daemon can kill itself. */
export const moments = {
  'before the verdict is stored': 'orch_task_evidence .*evaluated_at_ms',
  'before the end of the task is stored': 'task_completed|gate:|gate_exhausted:',
  'after the end of the task was stored': 'run_process = NULL WHERE id',
} as const

/** Runs a daemon that kills itself before its first statement that matches a pattern. */
export async function dieAt(root: string, moment: keyof typeof moments): Promise<void> {
  const program = projectFile('dist/test/faults/orchestrator/die-at-statement.js')
  const daemon: Program = startNode([program, root, moments[moment]], {root})
  assert.equal(await daemon.exited, null, daemon.stderr())
}

export const untilAllEnded = (root: string): Promise<void> =>
  until(
    () =>
      readStore(root, (database) =>
        database
          .prepare("SELECT id FROM orch_tasks WHERE status NOT IN ('Completed', 'Failed') OR run_process IS NOT NULL")
          .all(),
      ).length === 0,
    'all tasks have ended',
  )

/** Violations after all tasks have ended. */
export async function faultsAtEnd(root: string, orchestrator: Orchestrator): Promise<string[]> {
  const tasks = orchestrator.store.all<{id: number; status: string; receipt: string | null; outcome: string | null}>(
    `SELECT t.id, t.status, t.receipt, e.evaluation ->> 'outcome' AS outcome
FROM orch_tasks t LEFT JOIN orch_task_evidence e ON e.task_id = t.id`,
  )
  const events = orchestrator.store.all<{task_id: number; type: string}>(
    "SELECT task_id, type FROM orch_events WHERE type IN ('task_completed', 'task_failed')",
  )
  const journal = readJournal(root)
  return [
    ...gateFaults(orchestrator),
    ...(await invalidReceipts(orchestrator)).map((id) => `the receipt of task ${id} is not valid`),
    ...tasks.flatMap(({id, status, receipt, outcome}) => [
      ...(status === endOf(id) ? [] : [`task ${id} is ${status}`]),
      ...(outcome === status.toLowerCase() ? [] : [`task ${id} is ${status}, but its evaluation is ${outcome}`]),
      ...((receipt !== null) === (status === 'Completed') ? [] : [`task ${id} is ${status}, its receipt ${receipt}`]),
      ...(events.filter(({task_id}) => task_id === id).length === 1 ? [] : [`task ${id} did not end exactly once`]),
    ]),
    ...oracles['attempts of a task do not overlap']({journal} as never),
    ...stillAtWork(root, journal).map((pid) => `process ${pid} is still running`),
    ...(checkIntegrity(root) === 'ok' ? [] : ['the store is damaged']),
  ]
}
