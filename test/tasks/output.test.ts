import assert from 'node:assert/strict'
import {PassThrough} from 'node:stream'
import {describe, it, type TestContext} from 'node:test'
import {SvcError} from '../../src/errors/index.js'
import type {Orchestrator} from '../../src/orchestrator/index.js'
import {KeptOutput} from '../../src/process/index.js'
import type {RunReport} from '../../src/scheduler/index.js'
import {cancelTask, listTasks, readOutput, requireTask, retryTask} from '../../src/tasks/index.js'
import {outputStart, pruneOutput, taskWithOutput} from '../../src/tasks/lifecycle/output.js'
import {done, type Script, ScriptedProcessor, startDaemon} from '../orchestrator/support/daemon.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {statusOf, submit} from '../orchestrator/support/tasks.js'
import {until} from '../support/until.js'

/** A scripted command, as its processor sees it. */
function writer(report: RunReport, limit = 1000) {
  const output = new KeptOutput(limit, {onOutput: report.output})
  const pipe = new PassThrough()
  output.record('stdout', pipe)
  return async (text: string) => {
    pipe.write(text)
    await new Promise(setImmediate)
  }
}

/** A daemon with a scripted command, and a client in another process. */
async function running(t: TestContext, script: Script) {
  const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
  const client = await openTestOrchestrator(t, {root: orchestrator.root, clock: 'real'})
  const daemon = await startDaemon(t, orchestrator, new ScriptedProcessor(script))
  return {orchestrator, client, daemon}
}

/** A promise that the test resolves. */
function gateway(): {promise: Promise<void>; resolve: () => void} {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((keep) => {
    resolve = keep
  })
  return {promise, resolve}
}

const ended = (client: Orchestrator, id: number, status: string) =>
  until(() => statusOf(client, id) === status, `the task is ${status}`)

const broken = () => new SvcError('task_run_failed', {reason: 'run exited with status 1'})

describe('the output of a command', () => {
  it('can be read by others while the command runs, and resumed from a position', async (t) => {
    const gate = gateway()
    const {client} = await running(t, async (_, report) => {
      const write = writer(report)
      await write('first\n')
      await gate.promise
      await write('second\n')
      return done()
    })
    const id = submit(client)
    await until(() => readOutput(client, id).text !== '', 'the first piece is stored')
    const first = readOutput(client, id)
    assert.deepEqual([first.text, statusOf(client, id)], ['first\n', 'InProgress'])
    gate.resolve()
    await ended(client, id, 'Completed')
    assert.equal(readOutput(client, id, first.place).text, 'second\n')
    assert.deepEqual(taskWithOutput(client, id).output, {text: 'first\nsecond\n', bytes: 13, missing_bytes: 0})
  })

  it('is stored for a failed task, with its beginning and end', async (t) => {
    const {client} = await running(t, async (_, report) => {
      await writer(report, 16)(`FAIL a.test.js ${'x'.repeat(1000)} the cause`)
      throw broken()
    })
    const id = submit(client)
    await ended(client, id, 'Failed')
    const {output, result} = taskWithOutput(client, id)
    assert.deepEqual(output, {
      text: 'FAIL\n[1009 bytes are missing here]\nxx the cause',
      bytes: 1025,
      missing_bytes: 1009,
    })
    assert.equal(result, undefined)
  })

  it('stays bounded in the store, however many pieces are added', async (t) => {
    const {client} = await running(t, async (_, report) => {
      const write = writer(report, 400)
      for (let i = 0; i < 4; i++) {
        await write(String(i).repeat(1000))
        const stored = (i + 1) * 1000
        await until(() => readOutput(client, 1).place.offset === stored, `piece ${i} is stored`)
      }
      return done()
    })
    await ended(client, submit(client), 'Completed')
    const {text, missing} = readOutput(client, 1)
    assert.equal(text, `${'0'.repeat(100)}\n[3600 bytes are missing here]\n${'3'.repeat(300)}`)
    assert.equal(missing, 3600)
  })

  it('restarts with the latest run, which a reader notices', async (t) => {
    let runs = 0
    const {client} = await running(t, async (_, report) => {
      await writer(report)(`run ${++runs}\n`)
      throw broken()
    })
    const id = submit(client)
    await ended(client, id, 'Failed')
    const {place} = readOutput(client, id)
    retryTask(client, id)
    await until(() => runs === 2 && statusOf(client, id) === 'Failed', 'it has failed again')
    assert.equal(readOutput(client, id, place).text, 'run 2\n')
    assert.equal(readOutput(client, id, outputStart).text, 'run 2\n')
  })

  it('is not written for a run whose task was cancelled', async (t) => {
    const gate = gateway()
    const begun = gateway()
    const {client, daemon} = await running(t, async (_, report) => {
      begun.resolve()
      await gate.promise
      await writer(report)('too late\n')
      return done()
    })
    const id = submit(client)
    await begun.promise
    cancelTask(client, id)
    gate.resolve()
    await daemon.stop()
    assert.equal(taskWithOutput(client, id).output, undefined)
  })

  it('is not part of task lists, and is deleted after the retention of events', async (t) => {
    const {client} = await running(t, async (_, report) => {
      await writer(report)('text\n')
      return done()
    })
    const id = submit(client)
    await ended(client, id, 'Completed')
    assert.equal(listTasks(client)[0]?.output, undefined)
    assert.equal(requireTask(client, id).output, undefined)
    assert.equal(pruneOutput(client, 90), 0)
    const later = {...client, now: () => Date.now() + 91 * 86_400_000}
    assert.equal(pruneOutput(later, 90), 1)
    assert.equal(taskWithOutput(client, id).output, undefined)
  })
})
