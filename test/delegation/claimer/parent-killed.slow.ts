import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {remoteTypes} from '../../../src/mesh/index.js'
import {submitTask} from '../../../src/tasks/index.js'
import {startSvc} from '../../support/svc.js'
import {until} from '../../support/until.js'
import {RemoteWorld} from './remote-world.js'

/** Commands that run here leave a line in a file. */
const toml = `[orchestrator.exec]
enabled = true
templates = {count = ["sh", "-c", "echo run >> {root}/runs"]}
`
const task = {
  description: 'count',
  processor: 'exec',
  exec: {template: 'count'},
  enqueue_hints: {execution_role: 'builder'},
} as const

/** Starts a real daemon in the workspace, and waits until it is ready. */
async function startDaemon(t: TestContext, {root}: {root: string}) {
  const child = startSvc(['daemon', 'run', '--json', '--quiet'], {cwd: root, env: {SVC_DATA_DIR: join(root, 'data')}})
  const end = async () => {
    child.kill('SIGKILL')
    await child.catch(() => undefined)
  }
  t.after(end)
  for await (const line of createInterface({input: child.stdout as NodeJS.ReadableStream}))
    if (JSON.parse(line).event === 'ready') break
  child.stdout?.resume()
  return {kill: end}
}

const runsOf = async (world: RemoteWorld) =>
  (await readFile(join(world.orchestrator.root, 'runs'), 'utf8').catch(() => '')).split('\n').length - 1

describe('a daemon that is killed while it delegates a task', () => {
  const stalled = {granting: 'exec/lease/grant', held: 'a2a/deliver'}
  for (const [state, operation] of Object.entries(stalled))
    it(`leaves a task that runs here once if the delegation was ${state}`, async (t) => {
      const world = await RemoteWorld.open(t, toml)
      world.proxy.decide = ({route}) => (route === `POST /v1/mesh/${operation}` ? {status: 503} : 'pass')
      const daemon = await startDaemon(t, world.orchestrator)
      submitTask(world.orchestrator, task)
      await world.untilDelegation(state)
      await daemon.kill()
      delete world.proxy.decide
      await startDaemon(t, world.orchestrator)
      await world.untilStatus('Completed')
      assert.deepEqual(world.placements().at(-1), ['local_queue_fallback_after_remote_relay_error', null])
      assert.equal(await runsOf(world), 1)
      await until(async () => (await world.leases()).length === 0, 'the lease is released')
    })

  for (const state of ['relayed', 'started'])
    for (const isFinished of [false, true])
      it(`leaves a task to its worker if it was ${state}, with the result ${isFinished ? 'before' : 'after'} the restart`, async (t) => {
        const world = await RemoteWorld.open(t, toml)
        const daemon = await startDaemon(t, world.orchestrator)
        submitTask(world.orchestrator, task)
        const claimed = await world.claim()
        if (state === 'started') await world.send(remoteTypes.ack, claimed.envelope, {accepted: true})
        await world.untilDelegation(state)
        await daemon.kill()
        if (isFinished) await world.finish(claimed)
        await startDaemon(t, world.orchestrator)
        if (!isFinished) await world.finish(claimed)
        await world.untilStatus('Completed')
        assert.deepEqual([world.task().result?.text, await runsOf(world)], ['built', 0])
        assert.equal(world.placements().length, 1)
      })
})
