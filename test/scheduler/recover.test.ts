import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {describe, it, type TestContext} from 'node:test'
import {processStart} from '../../src/process/index.js'
import {runDaemon} from '../../src/scheduler/index.js'
import {readEvents, requireTask, takeClaim} from '../../src/tasks/index.js'
import {requireRow} from '../../src/tasks/lifecycle/task-rows.js'
import {ScriptedProcessor, startDaemon, untilAborted} from '../orchestrator/support/daemon.js'
import {openTestOrchestrator, refused, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask, start, statusOf, submit} from '../orchestrator/support/tasks.js'
import {projectFile} from '../support/project.js'
import {until} from '../support/until.js'

const again = (t: TestContext, {root}: TestOrchestrator) => openTestOrchestrator(t, {root, clock: 'real'})

describe('a daemon after a killed one', () => {
  it('requeues the tasks of the killed daemon, but not those of clients', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
    const claimed = submit(orchestrator, {processor: 'external'})
    const {generation} = takeClaim(orchestrator, {owner: 'client'})
    const orphan = start(orchestrator, submit(orchestrator))
    const younger = submit(orchestrator)
    const processor = new ScriptedProcessor()
    const {recovered} = await startDaemon(t, orchestrator, processor)
    assert.equal(recovered, 1)
    const client = await again(t, orchestrator)
    await until(() => statusOf(client, younger) === 'Completed', 'all is run')
    assert.deepEqual(processor.started, [orphan, younger])
    assert.equal(requireTask(client, orphan).retry_count, 1)
    const [event] = readEvents(client, {types: ['task_requeued']})
    assert.equal(event?.kind.type === 'task_requeued' && event.kind.reason, 'daemon_restarted')
    assert.equal(acceptTask(client, claimed, undefined, {generation}).outcome, 'completed')
    refused('claim_lost', () => acceptTask(client, orphan, undefined, {generation: 1}))
  })

  it('requeues the tasks of the killed daemon if nobody is notified that it is ready', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
    const id = start(orchestrator, submit(orchestrator))
    const client = await again(t, orchestrator)
    const processor = new ScriptedProcessor()
    const controller = new AbortController()
    const processors = {ai: processor, exec: processor}
    const ended = runDaemon(orchestrator, {processors, signal: controller.signal})
    t.after(() => controller.abort())
    await until(() => statusOf(client, id) === 'Completed', 'the task is completed')
    controller.abort()
    await ended
    assert.equal(requireTask(client, id).retry_count, 1)
  })

  it('kills the processes left by its commands', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {detached: true, stdio: 'ignore'})
    const {pid = 0} = child
    t.after(() => child.kill('SIGKILL'))
    await once(child, 'spawn')
    const ended = once(child, 'exit')
    const id = start(orchestrator, submit(orchestrator))
    const leave = JSON.stringify({pid, start: processStart(pid) ?? ''})
    orchestrator.store.run('UPDATE orch_tasks SET run_process = ? WHERE id = ?', [leave, id])
    await startDaemon(t, orchestrator, new ScriptedProcessor())
    assert.equal((await ended)[1], 'SIGKILL')
  })

  it('kills the checks of tasks of every processor, even if their processes were not stored', async (t) => {
    if (processStart(process.pid) === undefined) return t.skip('this system has no /proc')
    const toml = `[orchestrator]
behavioral_gate_on_complete = true
behavioral_gate_command = ["check"]
[orchestrator.exec]
enabled = true
[orchestrator.exec.templates]
check = ["true"]
`
    const orchestrator = await openTestOrchestrator(t, {toml, clock: 'real'})
    const id = start(orchestrator, submit(orchestrator, {processor: 'ai'}))
    const env = {SVC_TASK_UID: requireTask(orchestrator, id).uid}
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {stdio: 'ignore', env})
    t.after(() => child.kill('SIGKILL'))
    await once(child, 'spawn')
    const ended = once(child, 'exit')
    await startDaemon(t, orchestrator, new ScriptedProcessor())
    assert.equal((await ended)[1], 'SIGKILL')
  })

  it('does not kill a process with a reused pid', async (t) => {
    if (processStart(process.pid) === undefined) return t.skip('this system does not tell when a process started')
    const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {detached: true, stdio: 'ignore'})
    t.after(() => child.kill('SIGKILL'))
    await once(child, 'spawn')
    const id = start(orchestrator, submit(orchestrator))
    const leave = JSON.stringify({pid: child.pid, start: '1'})
    orchestrator.store.run('UPDATE orch_tasks SET run_process = ? WHERE id = ?', [leave, id])
    const {recovered} = await startDaemon(t, orchestrator, new ScriptedProcessor())
    assert.equal(recovered, 1)
    assert.equal(child.exitCode ?? child.signalCode, null)
  })

  it('takes over the lease of a killed process with the next term', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
    const id = submit(orchestrator)
    const script = projectFile('dist/test/orchestrator/support/hold-lease.js')
    const child = spawn(process.execPath, [script, orchestrator.root], {stdio: ['ignore', 'inherit', 'inherit']})
    t.after(() => child.kill('SIGKILL'))
    await until(() => statusOf(orchestrator, id) === 'InProgress', 'the first daemon runs the task')
    await assert.rejects(startDaemon(t, await again(t, orchestrator), new ScriptedProcessor()), /is already running/)
    const {claim_generation: late} = requireRow(orchestrator, id)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const {recovered} = await startDaemon(t, orchestrator, new ScriptedProcessor())
    assert.equal(recovered, 1)
    await until(() => statusOf(orchestrator, id) === 'Completed', 'the task is completed')
    refused('claim_lost', () => acceptTask(orchestrator, id, undefined, {generation: late}))
    assert.deepEqual(orchestrator.store.all('SELECT fence FROM orch_leases'), [{fence: 2}])
  })

  it('takes over a lease of another machine only after its term', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const processor = new ScriptedProcessor((_, __, signal) => untilAborted(signal))
    await (await startDaemon(t, orchestrator, processor)).stop()
    const hold = (expires: number) =>
      orchestrator.store.run("UPDATE orch_leases SET host = 'elsewhere', pid = 1, expires_at_ms = ?", [expires])
    hold(orchestrator.clock.ms + 1)
    await assert.rejects(startDaemon(t, orchestrator, processor), /pid 1 on elsewhere/)
    hold(orchestrator.clock.ms)
    await (await startDaemon(t, orchestrator, processor)).stop()
    hold(orchestrator.clock.ms + 3_600_000)
    await (await startDaemon(t, orchestrator, processor)).stop()
  })
})
