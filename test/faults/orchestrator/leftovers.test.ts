import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {projectFile} from '../../support/project.js'
import {svcBinary} from '../../support/svc.js'
import {svcInTurn} from '../../support/svc-in-turn.js'
import {writeFiles} from '../../support/temporary.js'
import {until} from '../../support/until.js'
import {readStore, readTraces} from './evidence.js'
import {readJournal, stillAtWork} from './journal.js'
import {oracles} from './oracles.js'
import {startDaemon, startNode, temporaryWorkspace} from './process.js'
import {workspaceEnv} from './workspace.js'

/** Work whose first attempt must be killed, while later ones end immediately. */
const work = `echo "start $SVC_TASK_ID $SVC_TASK_ATTEMPT $$" >> journal.txt
if [ "$SVC_TASK_ATTEMPT" = 1 ]; then sleep 600; fi
echo "end $SVC_TASK_ID $SVC_TASK_ATTEMPT" >> journal.txt
`

/** A workspace with one queued task. */
async function withWork(test: TestContext): Promise<string> {
  const root = await temporaryWorkspace(test)
  await writeFiles(root, {'work.sh': work})
  const args = ['orch', 'submit', 'work', '--exec', 'work', '--param', 'seconds=0']
  const {exitCode, stderr} = await svcInTurn(args, {cwd: root, env: workspaceEnv})
  assert.equal(exitCode, 0, stderr)
  return root
}

const readTask = (root: string) =>
  readStore(root, (database) =>
    database
      .prepare<[], {status: string; run_process: string | null}>('SELECT status, run_process FROM orch_tasks')
      .get(),
  )

const untilCompleted = (root: string) => until(() => readTask(root)?.status === 'Completed', 'the task is completed')

describe('a command of a killed daemon', () => {
  it('is killed before the task runs again', async (test) => {
    const root = await withWork(test)
    const first = startDaemon(root)
    await until(() => readJournal(root).length > 0, 'the first attempt has started')
    await until(() => readTask(root)?.run_process !== null, 'its process is stored')
    first.kill('SIGKILL')
    await first.exited
    startDaemon(root)
    await untilCompleted(root)
    const {journal} = readTraces(root)
    assert.deepEqual(
      journal.map(({what, attempt}) => [what, attempt]),
      [
        ['start', 1],
        ['start', 3],
        ['end', 3],
      ],
    )
    assert.deepEqual(stillAtWork(root, journal), [])
  })

  it('is killed even if the daemon died before it stored the process', async (test) => {
    const root = await withWork(test)
    const program = projectFile('dist/test/faults/orchestrator/die-before-recording.js')
    assert.equal(await startNode([program, root], {root}).exited, null)
    startDaemon(root)
    await untilCompleted(root)
    const {journal} = readTraces(root)
    assert.equal(journal.at(-1)?.attempt, 3)
    assert.deepEqual(stillAtWork(root, journal), [])
    const overlaps = oracles['attempts of a task do not overlap']({journal} as never)
    assert.deepEqual(overlaps, [])
  })
})

describe('a killed daemon whose parent has not read its exit status', () => {
  it('does not block another daemon', {skip: process.platform === 'win32' && 'needs a POSIX shell'}, async (test) => {
    const root = await temporaryWorkspace(test)
    // The shell is replaced by a program that never waits for its children. Only the daemon writes to standard output.
    const parent = spawn(
      'sh',
      ['-c', '"$0" "$@" & exec sleep 600 >&-', process.execPath, svcBinary, 'daemon', 'run', '--json'],
      {cwd: root, env: {PATH: process.env.PATH, HOME: root, ...workspaceEnv}, stdio: ['ignore', 'pipe', 'ignore']},
    )
    test.after(() => parent.kill('SIGKILL'))
    const reader = createInterface({input: parent.stdout})
    const closed = once(reader, 'close')
    const [line] = await once(reader, 'line')
    const {pid} = JSON.parse(line) as {pid: number}
    process.kill(pid, 'SIGKILL')
    await closed
    const second = startDaemon(root)
    assert.equal(await second.ready, true, second.lines.at(-1))
  })
})
