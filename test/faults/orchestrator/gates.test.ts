import assert from 'node:assert/strict'
import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {readEvents, requireTask} from '../../../src/tasks/index.js'
import {writeFiles} from '../../support/temporary.js'
import {until} from '../../support/until.js'
import {dieAt, faultsAtEnd, gatedTasks, untilAllEnded} from './gated-daemon.js'
import {readJournal, stillAtWork} from './journal.js'
import {startDaemon} from './process.js'

describe('a daemon killed while it completes a task', () => {
  it('between the verdict and the end of the task leaves the evaluation to its successor', async (test) => {
    const {root, orchestrator} = await gatedTasks(test, 1)
    await dieAt(root, 'before the verdict is stored')
    assert.equal(requireTask(orchestrator, 1).status, 'InProgress')
    assert.deepEqual(readEvents(orchestrator, {types: ['task_gated', 'task_completed']}), [])
    assert.deepEqual(orchestrator.store.all('SELECT * FROM orch_task_evidence'), [])
    startDaemon(root)
    await untilAllEnded(root)
    assert.deepEqual(await faultsAtEnd(root, orchestrator), [])
    assert.deepEqual(
      readJournal(root).map(({what, attempt}) => [what, attempt]),
      [
        ['start', 1],
        ['end', 1],
        ['start', 3],
        ['end', 3],
      ],
    )
  })

  it('during a check leaves a check that its successor kills', async (test) => {
    const {root, orchestrator} = await gatedTasks(test, 1)
    await writeFiles(root, {hold: ''})
    const first = startDaemon(root)
    await until(() => readJournal(root).length > 0, 'the check has started')
    first.kill('SIGKILL')
    await first.exited
    const journal = readJournal(root)
    assert.equal(stillAtWork(root, journal).length, process.platform === 'linux' ? 1 : 0)
    const second = startDaemon(root)
    assert.equal(await second.ready, true, second.stderr())
    await until(() => stillAtWork(root, journal).length === 0, 'the check was killed')
    await rm(join(root, 'hold'))
    await untilAllEnded(root)
    assert.deepEqual(await faultsAtEnd(root, orchestrator), [])
  })
})
